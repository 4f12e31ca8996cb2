import { addedUrlOf } from './edge/extension.ts';
import type { EdgeOptions } from './edge_options.ts';
import {
  type Decision,
  type Explanation,
  type Locate,
  type Place,
  type StreamExplanation,
  decisionOf,
  explanationOf,
  summaryOf,
} from './edge/explain.ts';
import type { World } from './engine/contract.ts';
import { connectionOf } from './engine/drivers/engine_exchange_port.ts';
import type { Configuration, Exchange } from './engine/exchange.ts';
import type { StreamExchange } from './engine/stream_exchange.ts';
import type { HttpRequestCompleteEvent } from './events/catalogue.ts';
import type { IdMaker } from './events/identifiers.ts';
import { attempting, lostEvents } from './events/lost.ts';
import { LateEvent } from './events/late_event.ts';
import { projectHttpConnectionClosed, projectTcpConnectionClosed } from './events/tcp_connection.ts';
import type { TrafficWatch } from './inspector/server/traffic_watch.ts';
import type { LiveWiring } from './listening.ts';
import { createMetrics } from './server/admin_metrics.ts';
import { lostFamily } from './server/process_metrics.ts';

/** Counts exchanges and lost events. */
export function counting({ lostEvents: lost = lostEvents(() => undefined) }: EdgeOptions) {
  const metrics = createMetrics();
  return {
    metrics: { ...metrics, families: () => [...metrics.families(), lostFamily(lost.counts())] },
    attempted: attempting(lost),
  };
}

/** Source positions of each configuration that an exchange may still be using. */
export type Places = WeakMap<Configuration, Locate>;

/** `locate`, with what it has found: explanations ask for the same few positions with each request. */
export function remembering(locate: Locate): Locate {
  const known = new Map<string, Place | null>();
  return (pointer) => {
    let place = known.get(pointer);
    if (place === undefined) known.set(pointer, (place = locate(pointer)));
    return place;
  };
}

type Attempted = ReturnType<typeof counting>['attempted'];

/** What observes the traffic; an inspector of `listen` comes and goes. */
export interface Watching {
  watch: TrafficWatch | null;
}

/** Makes the events of completed exchanges and passes them on. An event that is never read is not made. */
export function reporting(
  options: EdgeOptions,
  watching: Watching,
  world: World,
  newEventId: IdMaker,
  places: Places,
  attempted: Attempted,
) {
  const { recordingSink: sink, onEvent, onCompleted, onConnection, onOpened } = options;
  const { onHttpConnection: onHttp } = options;
  const emitConnection: NonNullable<LiveWiring['emitConnection']> = (facts, bytes) =>
    attempted(() =>
      onHttp?.(projectHttpConnectionClosed(connectionOf(facts), bytes, world.nowMs(), newEventId)),
    );
  const locateOf = ({ configuration }: Exchange | StreamExchange): Locate => places.get(configuration)!;
  function explain(exchange: Exchange): Explanation;
  function explain(exchange: StreamExchange): StreamExplanation;
  function explain(exchange: Exchange | StreamExchange): Explanation | StreamExplanation {
    return explanationOf(exchange, locateOf(exchange));
  }
  return {
    isHeard: () =>
      sink !== undefined || onEvent !== undefined || onCompleted !== undefined || watching.watch !== null,
    explain,
    decision: (exchange: Exchange): Decision => decisionOf(exchange, locateOf(exchange)),
    /** Passes the event on to who wants it, and returns it. It is made when it is asked for first. */
    emit: (exchange: Exchange, endMs: number): (() => HttpRequestCompleteEvent) => {
      const late = new LateEvent(exchange, newEventId, endMs);
      const event = once(() => late.read());
      sink?.finished(exchange, event().object, addedUrlOf(exchange));
      watching.watch?.finished(exchange, late);
      const explained = once(() => explain(exchange));
      if (onEvent !== undefined) attempted(() => onEvent(event(), explained));
      if (onCompleted !== undefined)
        attempted(() => onCompleted(summaryOf(exchange, locateOf(exchange)), explained));
      return event;
    },
    emitStream: (exchange: StreamExchange): void =>
      attempted(() => {
        if (onConnection === undefined && watching.watch === null) return undefined;
        const event = projectTcpConnectionClosed(exchange, newEventId);
        const explained = once(() => explain(exchange));
        watching.watch?.streamEnded(exchange, event, explained);
        return onConnection?.(event, explained);
      }),
    emitConnection: onHttp === undefined ? null : emitConnection,
    opened:
      onOpened === undefined ? null : (exchange: Exchange) => attempted(() => onOpened(explain(exchange))),
  };
}

/** The same value each time: several listeners ask for it. */
function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | null = null;
  return () => (made ??= make());
}
