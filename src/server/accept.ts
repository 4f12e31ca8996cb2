import type { Socket } from 'node:net';
import { isClientKnown } from '../engine/drivers/engine_exchange_port.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';
import { readProxyHeader } from './proxy_protocol.ts';
import { preread } from './preread.ts';

/** What both listeners for TLS and TCP do with a connection that has just been accepted. */

const PROXY_HEADER_BYTES = 8_192;

/**
 * Facts of a connection to a port of an edge; null when the PROXY protocol header that has to be there is not, or the
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
    // The port that visitors know; where this process listens is another matter.
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
