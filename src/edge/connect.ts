import type { Connection, RequestHead, World } from '../engine/contract.ts';
import type { ClientCertificate } from '../engine/connection.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import { type CompiledEdge } from './compile.ts';
import { beginExchange, refuseExchange } from './begin_exchange.ts';
import { beginStream } from './streams.ts';
import { oldVersion } from './handshakes.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import type { StatedConnection } from '../engine/request_like.ts';

/** Begins an exchange, including one whose head is refused. */
export function beginGiven(
  edge: CompiledEdge,
  connection: Connection,
  head: RequestHead | RefusedHead,
  world: World,
  begin: typeof beginExchange = beginExchange,
): Exchange {
  if (!('refused' in head)) return begin(edge, connection, head, world);
  const reason = { code: head.refused, detail: { problem: head.message } };
  return refuseExchange(edge, connection, head.head, world, reason);
}

/**
 * Begins a request on a connection that is opened for it now, without a handshake: its TLS facts are compared with what the
 * edge of its server name requires, as a handshake would do. If that fails there is no response.
 */
export function beginStated(
  edge: CompiledEdge,
  stated: StatedConnection,
  head: RequestHead | RefusedHead,
  world: World,
  begin: typeof beginExchange = beginExchange,
): Exchange {
  const { tls, serverName, serverPort } = stated;
  const startMs = world.nowMs();
  const handshake =
    tls === null || tls.edge !== undefined ? null : edge.handshakes.stated(tls, serverName, serverPort);
  if (handshake === null || 'refused' in head)
    return beginGiven(edge, { ...stated, startMs }, head, world, begin);
  const { profile, problem, tls: facts } = handshake;
  if (problem !== undefined) return failedHandshake(edge, { ...stated, startMs }, head, world, problem);
  // One copy for both changes: a simulation makes millions of them.
  const exchange = begin(edge, { ...stated, startMs, tls: facts }, head, world);
  if (profile.authorities === null || isValidAt(facts.clientCertificate, startMs)) return exchange;
  // On a route of the edge the module itself says what is wrong with the certificate.
  if (exchange.pipeline?.edge === profile.edge) return withoutRequest(exchange);
  return facts.clientCertificate === null
    ? failedHandshake(edge, { ...stated, startMs }, head, world, 'the client showed no certificate')
    : exchange;
}

function failedHandshake(
  edge: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
  problem: string,
): Exchange {
  const reason = { code: 'connection.handshake', detail: { problem } } as const;
  return withoutRequest(refuseExchange(edge, connection, head, world, reason));
}

function isValidAt(certificate: ClientCertificate | null, nowMs: number): boolean {
  if (certificate === null) return false;
  const { details } = certificate;
  return details === undefined || (details.notBeforeMs <= nowMs && nowMs <= details.notAfterMs);
}

function withoutRequest(exchange: Exchange): Exchange {
  exchange.hasRequest = false;
  return exchange;
}

/**
 * Begins a connection that is opened now, without a handshake: its TLS facts are compared with what the edge requires, as a handshake would
 * do. The client certificate is checked by the modules.
 */
export function beginConnection(
  edge: CompiledEdge,
  stated: StatedConnection,
  place: Parameters<typeof beginStream>[2],
  world: World,
): StreamExchange {
  const connection = { ...stated, startMs: world.nowMs() };
  const handshake = place.kind === 'tls' ? edge.handshakes.find(place.host, place.port) : null;
  if (handshake === null || connection.tls === null) return beginStream(edge, connection, place, world);
  if (!handshake.terminates) {
    const passed = { ...connection.tls, version: '', cipherSuite: '', clientCertificate: null };
    return beginStream(edge, { ...connection, tls: passed }, place, world);
  }
  return beginStream(edge, connection, place, world, oldVersion(connection.tls.version, handshake));
}
