import type { StreamExchange } from '../engine/stream.ts';
import { type TcpConnectionClosed, type TcpConnectionClosedEvent, trafficEvent } from './catalogue.ts';
import { blockOrAllow, decisionOf, logsOf } from './exchange_facts.ts';
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

/** The `object` of the event; secrets read by policies are redacted. */
export function tcpConnectionClosed(exchange: StreamExchange, endMs: number): TcpConnectionClosed {
  const { connection, relayed, configuration } = exchange;
  const { redact } = configuration;
  const object: TcpConnectionClosed = {
    conn: {
      bytes_in: relayed?.bytesIn ?? 0,
      bytes_out: relayed?.bytesOut ?? 0,
      client_ip: connection.client.text,
      end_ts: timestamp(endMs),
      server_ip: connection.serverIp,
      server_name: connection.serverName,
      server_port: connection.serverPort,
      start_ts: timestamp(connection.startMs),
    },
    ip_policy: { decision: blockOrAllow(decisionOf(exchange, 'ip_restriction')) },
    traffic_policy: { logs: logsOf(exchange) },
  };
  return redact === null ? object : redactEvent('tcp_connection_closed.v0', object, redact);
}
