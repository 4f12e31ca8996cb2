import type { Socket } from 'node:net';
import { acceptedFacts } from './accept.ts';
import { type SocketListener, socketListener } from './listener.ts';
import { connectionOf } from './plane.ts';
import { type StreamHands, driveStream } from './tcp_drive.ts';
import type { FrontWiring, StreamPlace } from './tls_port.ts';

/** Whether connections begin with a PROXY protocol header. */
export interface AcceptOptions {
  readonly proxyProtocol: boolean;
}

/** Listens for the connections of one host and port of a TCP edge. */
export function tcpListener(
  place: StreamPlace,
  wiring: FrontWiring,
  hands: StreamHands,
  { proxyProtocol }: AcceptOptions,
): SocketListener {
  const { handshakeMs } = hands.limits;
  return socketListener(async (socket: Socket) => {
    const facts = await acceptedFacts(socket, place, { proxyProtocol, handshakeMs });
    if (facts === null) {
      socket.destroy();
      return;
    }
    const exchange = wiring.begin(connectionOf(facts), place);
    await driveStream(socket, exchange, hands);
    wiring.finished(exchange);
  });
}
