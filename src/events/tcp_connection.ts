import type { Connection } from '../engine/contract.ts';
import { NOTHING_RELAYED, type Relayed, type StreamExchange } from '../engine/stream_exchange.ts';
import { type TcpConnectionClosed, type TcpConnectionClosedEvent, trafficEvent } from './catalogue.ts';
import { blockOrAllow, decisionOf, policyFacts } from './exchange_facts.ts';
import type { IdMaker } from './identifiers.ts';
import { redactEvent } from './redact_event.ts';
import { timestamp } from './timestamps.ts';

/** The event of a closed connection. Everything in it was decided or measured before. */
export function projectTcpConnectionClosed(
  exchange: StreamExchange,
  newId: IdMaker,
): TcpConnectionClosedEvent {
  const endMs = exchange.world.nowMs();
  return trafficEvent('tcp_connection_closed.v0', tcpConnectionClosed(exchange, endMs), endMs, newId);
}

/** The event of a closed connection that carried HTTP: decisions and logs are in the events of its requests. */
export function projectHttpConnectionClosed(
  connection: Connection,
  transferred: Transferred,
  endMs: number,
  newId: IdMaker,
): TcpConnectionClosedEvent {
  const object: TcpConnectionClosed = {
    conn: connectionFacts(connection, transferred, endMs),
    ip_policy: { decision: 'invalid' },
    traffic_policy: { logs: [] },
  };
  return trafficEvent('tcp_connection_closed.v0', object, endMs, newId);
}

type Transferred = Pick<Relayed, 'bytesIn' | 'bytesOut'>;

function connectionFacts(
  connection: Connection,
  { bytesIn, bytesOut }: Transferred,
  endMs: number,
): TcpConnectionClosed['conn'] {
  return {
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    client_ip: connection.client.text,
    end_ts: timestamp(endMs),
    server_ip: connection.serverIp,
    server_name: connection.serverName,
    server_port: connection.serverPort,
    start_ts: timestamp(connection.startMs),
  };
}

/** The `object` of the event; secrets read by policies are redacted. */
export function tcpConnectionClosed(exchange: StreamExchange, endMs: number): TcpConnectionClosed {
  const { connection, relayed, configuration } = exchange;
  const redact = configuration.redactor();
  const object: TcpConnectionClosed = {
    conn: connectionFacts(connection, relayed ?? NOTHING_RELAYED, endMs),
    ip_policy: {
      decision: blockOrAllow(decisionOf(exchange, exchange.pipeline?.positionOf['ip_restriction'])),
    },
    traffic_policy: policyFacts(exchange),
  };
  return redact === null ? object : redactEvent('tcp_connection_closed.v0', object, redact);
}
