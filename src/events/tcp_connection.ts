import { type Hide, hideIn } from '../engine/hide.ts';
import type { StreamExchange } from '../engine/stream.ts';
import type { EventEnvelope, ModuleDecision } from './catalogue.ts';
import type { IdMaker } from './identifiers.ts';
import { timestamp } from './timestamps.ts';

/** `tcp_connection_closed.v0` as the specification's table has it, nested by the dots. */
export interface TcpConnectionClosed {
  readonly conn: {
    /** Bytes from the client, without those of a handshake that ended at the edge. */
    readonly bytes_in: number;
    readonly bytes_out: number;
    readonly client_ip: string;
    /** RFC 3339. */
    readonly end_ts: string;
    readonly server_ip: string;
    readonly server_name: string;
    readonly server_port: number;
    readonly start_ts: string;
  };
  readonly ip_policy: { readonly decision: ModuleDecision };
  readonly traffic_policy: {
    readonly logs: readonly { readonly metadata: Readonly<Record<string, unknown>> }[];
  };
}

export type TcpConnectionClosedEvent = EventEnvelope<'tcp_connection_closed.v0', TcpConnectionClosed>;

const NO_LOGS: TcpConnectionClosed['traffic_policy']['logs'] = [];

/** The one event of a connection that is over: all of it was decided or measured before. */
export function projectTcpConnectionClosed(
  exchange: StreamExchange,
  newId: IdMaker,
): TcpConnectionClosedEvent {
  const endMs = exchange.world.nowMs();
  return {
    event_id: newId(endMs),
    event_type: 'tcp_connection_closed.v0',
    event_timestamp: timestamp(endMs),
    object: tcpConnectionClosed(exchange, endMs),
  };
}

/** The event's body alone. */
export function tcpConnectionClosed(exchange: StreamExchange, endMs: number): TcpConnectionClosed {
  const { connection, carried, logs, configuration } = exchange;
  const { hide } = configuration;
  return {
    conn: {
      bytes_in: carried?.bytesIn ?? 0,
      bytes_out: carried?.bytesOut ?? 0,
      client_ip: connection.client.text,
      end_ts: timestamp(endMs),
      server_ip: connection.serverIp,
      server_name: connection.serverName,
      server_port: connection.serverPort,
      start_ts: timestamp(connection.startMs),
    },
    ip_policy: { decision: ipDecision(exchange) },
    traffic_policy: { logs: logs?.map((metadata) => ({ metadata: shown(metadata, hide) })) ?? NO_LOGS },
  };
}

function ipDecision({ pipeline, verdicts }: StreamExchange): ModuleDecision {
  const index = pipeline?.slotOf['ip_restriction'];
  const verdict = index === undefined ? undefined : verdicts[index];
  if (pipeline === null || verdict === undefined) return 'invalid';
  const { decision } = pipeline.slots[index!]!.reasons[verdict.because.code]!;
  return decision === 'allow_while_open' ? 'allow' : decision;
}

/** Without the secrets that the policy has read. */
function shown<T>(metadata: T, hide: Hide | null): T {
  return hide === null ? metadata : hideIn(metadata, hide);
}
