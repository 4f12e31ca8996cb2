import type { Socket } from 'node:net';
import type { ConnectionFacts } from './port.ts';
import { readProxyHeader } from './proxy_protocol.ts';
import { readAhead } from './read_ahead.ts';

/** What both listeners for TLS and TCP do with a connection that has just been accepted. */

const PROXY_HEADER_BYTES = 8_192;

/** Facts of a connection to a port of an edge; null when the PROXY protocol header that has to be there is not. */
export async function acceptedFacts(
  socket: Socket,
  place: { readonly host: string; readonly port: number },
  options: { readonly proxyProtocol: boolean; readonly handshakeMs: number },
): Promise<ConnectionFacts | null> {
  const facts: ConnectionFacts = {
    clientAddress: socket.remoteAddress ?? '',
    clientPort: socket.remotePort ?? 0,
    serverAddress: socket.localAddress ?? '',
    // The port that visitors know; where this process listens is another matter.
    serverPort: place.port,
    serverName: place.host,
    startMs: Date.now(),
    tls: null,
  };
  if (!options.proxyProtocol) return facts;
  const limits = { ms: options.handshakeMs, bytes: PROXY_HEADER_BYTES };
  const header = await readAhead(socket, limits, readProxyHeader, ({ bytes }) => bytes);
  if ('problem' in header) return null;
  const { from } = header;
  if (from === null) return facts;
  return {
    ...facts,
    clientAddress: from.client.text,
    clientPort: from.clientPort,
    serverAddress: from.server.text,
  };
}
