import type { Connection, World } from '../engine/contract.ts';
import type { StreamExchange } from '../engine/stream.ts';
import type { CompiledEdge } from './compile.ts';
import { type StreamAddress, beginStream } from './streams.ts';

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
  const version = Number(/\d+(?:\.\d+)?/.exec(connection.tls.version)?.[0] ?? 0);
  const failed =
    version < Number(handshake.minVersion)
      ? `the client speaks ${connection.tls.version}, the edge ${handshake.minVersion} or newer`
      : undefined;
  return beginStream(edge, connection, place, world, failed);
}
