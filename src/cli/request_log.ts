import type { EdgeOptions } from '../edgeproof.ts';
import type { RequestSummary } from '../edge/explain.ts';
import { connectionLine, openedLine, requestLine } from './request_line.ts';
import { printable } from './terminal.ts';
import type { EventSink } from '../events/ndjson.ts';
import type { Voice } from './voice.ts';

/** The name of an object that the management API stores, by its id; the id itself if it has none. */
export type NameOf = (id: string) => string;

const NAME_UNITS = 80;

/** Ids of the management API, in texts that also have other words. */
const ID = /\b[a-z]{2,8}_[0-9a-z]{20,}\b/g;

export type RequestLog = Required<Pick<EdgeOptions, 'onCompleted' | 'onConnection' | 'onOpened'>>;

interface LogNeeds {
  readonly nameOf: NameOf;
  /** Called with a backend that a request could not reach. */
  readonly unreached: (backend: string) => void;
}

/** Prints a line for each request and connection of an edge, and for each WebSocket and event stream that opens. */
export function requestLog(
  { log, color, heard }: Pick<Voice, 'log' | 'color' | 'heard'>,
  { nameOf, unreached }: LogNeeds,
): RequestLog {
  const named = (text: string): string =>
    text.replaceAll(ID, (id) => printable(nameOf(id)).slice(0, NAME_UNITS));
  const look = ({ decidedBy, backend }: Pick<RequestSummary, 'decidedBy' | 'backend'>): void => {
    if (decidedBy.code === 'upstream.connect' && backend !== null) unreached(backend);
  };
  return {
    onOpened: (explanation) => {
      heard(() => explanation);
      log(openedLine(explanation, { color, named }));
    },
    onCompleted: (summary, explain) => {
      heard(explain);
      log(requestLine(summary, endOf(summary), { color, named }));
      look(summary);
    },
    onConnection: (event, explain) => {
      const explanation = explain();
      log(connectionLine(explanation, event.object, endOf(explanation), { color, named }));
      look(explanation);
    },
  };
}

/** A log beside the listeners of OTLP, and a sink of events. Without them no event is made. */
export function heardBy(
  log: RequestLog,
  otlp: Pick<EdgeOptions, 'onEvent' | 'onConnection'>,
  sink: EventSink | null = null,
): Pick<EdgeOptions, 'onEvent'> & RequestLog {
  const onEvent: EdgeOptions['onEvent'] = (event, explain) => {
    sink?.write(event);
    otlp.onEvent?.(event, explain);
  };
  return {
    ...log,
    ...((sink !== null || otlp.onEvent !== undefined) && { onEvent }),
    onConnection: (event, explain) => {
      sink?.write(event);
      otlp.onConnection?.(event, explain);
      log.onConnection(event, explain);
    },
  };
}

/** The end of an exchange or a connection, which is now. */
function endOf({ startMs }: { readonly startMs: number }): { readonly time: Date; readonly tookMs: number } {
  const time = new Date();
  return { time, tookMs: time.getTime() - startMs };
}
