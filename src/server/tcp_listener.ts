import type { Socket } from 'node:net';
import { acceptedFacts } from './accept.ts';
import { type SocketListener, socketListener } from './listener.ts';
import { connectionOf } from '../engine/drivers/engine_exchange_port.ts';
import { type StreamClients, driveStream } from './tcp_driver.ts';
import type { StreamWiring, StreamPlace } from './stream_wiring.ts';

/** Whether connections start with a PROXY protocol header. */
export interface AcceptOptions {
  readonly proxyProtocol: boolean;
}

/** Listens for the connections of one host and port of a TCP edge. */
export function tcpListener(
  place: StreamPlace,
  wiring: StreamWiring,
  clients: StreamClients,
  { proxyProtocol }: AcceptOptions,
): SocketListener {
  const { handshakeMs } = clients.limits;
  return socketListener(async (socket: Socket) => {
    const facts = await acceptedFacts(socket, place, wiring.nowMs(), { proxyProtocol, handshakeMs });
    if (facts === null) {
      socket.destroy();
      return;
    }
    const exchange = wiring.begin(connectionOf(facts), place);
    await driveStream(socket, exchange, clients);
    wiring.finished(exchange);
  });
}
