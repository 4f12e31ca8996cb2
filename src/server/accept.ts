import type { Socket } from 'node:net';
import { isClientKnown } from '../engine/drivers/engine_exchange_port.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';
import { readProxyHeader } from './proxy_protocol.ts';
import { preread } from './preread.ts';

/** Steps that the TLS and the TCP listener share for an accepted connection. */

const PROXY_HEADER_BYTES = 8_192;

/**
 * Facts of a connection to a port of an edge; null when its required PROXY protocol header is missing, or the
 * client's address cannot be read.
 */
export async function acceptedFacts(
  socket: Socket,
  place: { readonly host: string; readonly port: number },
  startMs: number,
  options: { readonly proxyProtocol: boolean; readonly handshakeMs: number },
): Promise<ConnectionFacts | null> {
  const facts: ConnectionFacts = {
    clientAddress: socket.remoteAddress ?? '',
    clientPort: socket.remotePort ?? 0,
    serverAddress: socket.localAddress ?? '',
    // The port that clients know, which may differ from the port of this process.
    serverPort: place.port,
    serverName: place.host,
    startMs,
    tls: null,
  };
  if (!options.proxyProtocol) return isClientKnown(facts) ? facts : null;
  const limits = { ms: options.handshakeMs, bytes: PROXY_HEADER_BYTES };
  const header = await preread(socket, limits, readProxyHeader, ({ bytes }) => bytes);
  if ('problem' in header) return null;
  const { from } = header;
  if (from === null) return isClientKnown(facts) ? facts : null;
  return {
    ...facts,
    clientAddress: from.client.text,
    clientPort: from.clientPort,
    serverAddress: from.server.text,
  };
}
