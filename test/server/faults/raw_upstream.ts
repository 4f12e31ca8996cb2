import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** An upstream that answers with bytes instead of HTTP. */
export interface RawUpstream {
  readonly address: string;
  /** Number of its connections. */
  readonly open: number;
  close(): Promise<void>;
}

/** Listens on loopback; `allowHalfOpen`: the upstream may still send after the edge has ended its side. */
export async function rawUpstream(
  serve: (socket: Socket) => void,
  { allowHalfOpen = false } = {},
): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get open() {
      return sockets.size;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
