import { suggest } from '../diagnostics/suggest.ts';
import { didYouMean, quoted } from '../diagnostics/message_text.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type PreparedConnection, prepareConnection } from './document/connections.ts';
import type { RequestSetting } from './document/requests.ts';
import type { StepConfig } from './document/schema.ts';
import type { ExpectationContext } from './expect/expectation_context.ts';
import { type StreamExpectation, compileStreamExpectation } from './expect/stream_expectation.ts';
import type { ConnectionOutcome, OpenConnection } from './run_connect.ts';

/** What a step does with a connection. */
export type ConnectionStep =
  | {
      readonly does: 'connect';
      /** Null for a connection that closes at once. */
      readonly name: string | null;
      readonly connection: PreparedConnection;
      readonly expectations: readonly StreamExpectation[];
    }
  | {
      readonly does: 'transfer';
      readonly name: string;
      readonly sendsBytes: number;
      readonly receivesBytes: number;
    }
  | { readonly does: 'close'; readonly name: string };

const KINDS = ['send', 'connect', 'transfer', 'close'] as const;

/**
 * Compiles the part of a step that is about connections; null if it has none, or is invalid, which is reported. `open` has
 * the names of the connections that earlier steps have opened.
 */
export function compileConnectionStep(
  step: StepConfig,
  at: string,
  setting: { readonly edge: EdgeConfig; readonly request: RequestSetting; readonly open: Set<string> },
  context: ExpectationContext,
): ConnectionStep | null {
  const { edge, request, open } = setting;
  const { report } = request;
  const { connect, transfer, close, expect } = step;
  const kinds = KINDS.filter((kind) => step[kind] !== undefined);
  if (kinds.length > 1) {
    report(
      'scenario.several_requests',
      at,
      `a step has one of ${KINDS.join(', ')}, not ${kinds.join(' and ')}`,
    );
    return null;
  }
  if (connect !== undefined) {
    const name = typeof connect === 'string' ? null : (connect.as ?? null);
    if (name !== null && open.has(name))
      report('scenario.bad_request', `${at}/connect/as`, `a connection ${quoted(name)} is open already`);
    if (name !== null) open.add(name);
    const expectations =
      typeof expect === 'object' ? compileStreamExpectation(expect, `${at}/expect`, context) : [];
    const connection = prepareConnection(connect, `${at}/connect`, edge, request);
    return connection && { does: 'connect', name, connection, expectations };
  }
  const name = transfer?.on ?? close;
  if (name === undefined) return null;
  const pointer = transfer === undefined ? `${at}/close` : `${at}/transfer/on`;
  if (!open.has(name)) {
    const hint = didYouMean(suggest(name, [...open]));
    report('scenario.bad_request', pointer, `no connection ${quoted(name)} is open`, { hint });
  }
  if (transfer === undefined) {
    open.delete(name);
    return { does: 'close', name };
  }
  return { does: 'transfer', name, sendsBytes: transfer.sends ?? 0, receivesBytes: transfer.receives ?? 0 };
}

/** The connections of a running timeline. */
export interface TimelineConnections {
  readonly run: (step: ConnectionStep, closed: (outcome: ConnectionOutcome) => void) => void;
  /** Closes what is still open. */
  readonly end: () => void;
}

interface Open {
  readonly connection: OpenConnection;
  sendsBytes: number;
  receivesBytes: number;
  readonly closed: (outcome: ConnectionOutcome) => void;
}

/** Opens connections with `connect`, and closes them at later steps. */
export function timelineConnections(
  connect: (connection: PreparedConnection) => OpenConnection,
): TimelineConnections {
  const open = new Map<string, Open>();
  const close = ({ connection, sendsBytes, receivesBytes, closed }: Open): void =>
    closed(connection.close(sendsBytes, receivesBytes));
  return {
    run: (step, closed) => {
      if (step.does === 'connect') {
        const { sendsBytes, receivesBytes } = step.connection;
        const opened = { connection: connect(step.connection), sendsBytes, receivesBytes, closed };
        const { name } = step;
        if (name === null) close(opened);
        else {
          open.set(name, opened);
          opened.connection.onLost = () => {
            open.delete(name);
            close(opened);
          };
        }
        return;
      }
      const known = open.get(step.name);
      // Its tunnel was lost before.
      if (known === undefined) return;
      if (step.does === 'transfer') {
        known.sendsBytes += step.sendsBytes;
        known.receivesBytes += step.receivesBytes;
      } else {
        open.delete(step.name);
        close(known);
      }
    },
    end: () => {
      for (const each of open.values()) close(each);
      open.clear();
    },
  };
}
