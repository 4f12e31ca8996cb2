import type { Connection, RequestHead, World } from '../engine/contract.ts';
import { tlsVersionNumber } from '../engine/connection.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream.ts';
import type { TlsProfile } from '../engine/tls_profile.ts';
import { type CompiledEdge, beginExchange, refuseExchange } from './compile.ts';
import { type StreamAddress, beginStream } from './streams.ts';
import type { RefusedHead } from '../engine/request_head.ts';

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
 * Begins a request on a connection without a handshake: its TLS facts are compared with what the edge of its server
 * name requires, as a handshake would do. If that fails there is no response.
 */
export function beginStated(
  edge: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
): Exchange {
  const { tls, serverName, serverPort } = connection;
  if (tls === null || tls.edge !== undefined) return beginExchange(edge, connection, head, world);
  const { handshakes } = edge;
  const profile = handshakes.find(serverName, serverPort) ?? handshakes.find(serverName, HTTPS_PORT);
  if (profile === null || profile.kind !== 'https') return beginExchange(edge, connection, head, world);
  const failed = (problem: string): Exchange =>
    refuseExchange(edge, connection, head, world, { code: 'connection.handshake', detail: { problem } });
  const tooOld = oldVersion(tls.version, profile);
  if (tooOld !== undefined) return failed(tooOld);
  const clientCertificate = profile.authorities === null ? null : tls.clientCertificate;
  const connected = { ...connection, tls: { ...tls, edge: profile.edge, clientCertificate } };
  const exchange = beginExchange(edge, connected, head, world);
  if (profile.authorities === null || clientCertificate !== null) return exchange;
  // On a route of the edge the module itself says that there is no certificate.
  return exchange.pipeline?.edge === profile.edge ? exchange : failed('the client showed no certificate');
}

const HTTPS_PORT = 443;

/**
 * Begins a connection without a handshake: its TLS facts are compared with what the edge requires, as a handshake would
 * do. The client certificate is checked by the modules.
 */
export function beginConnection(
  edge: CompiledEdge,
  connection: Connection,
  place: Pick<StreamAddress, 'kind' | 'host' | 'port'>,
  world: World,
): StreamExchange {
  const handshake = place.kind === 'tls' ? edge.handshakes.find(place.host, place.port) : null;
  if (handshake === null || connection.tls === null) return beginStream(edge, connection, place, world);
  if (!handshake.terminates) {
    const passed = { ...connection.tls, version: '', cipherSuite: '', clientCertificate: null };
    return beginStream(edge, { ...connection, tls: passed }, place, world);
  }
  return beginStream(edge, connection, place, world, oldVersion(connection.tls.version, handshake));
}

function oldVersion(version: string, { minVersion }: TlsProfile): string | undefined {
  return tlsVersionNumber(version) < Number(minVersion)
    ? `the client speaks ${version}, the edge ${minVersion} or newer`
    : undefined;
}
