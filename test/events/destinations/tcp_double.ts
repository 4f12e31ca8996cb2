import { type AddressInfo, type Socket, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** What a double answers, in terms of HTTP. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Decides about a batch: null accepts it. */
export type Receive = (events: readonly string[]) => Reply | null;

/**
 * A server for a protocol of its own, over TLS with a certificate; `serve` is called with the bytes so far and returns
 * what is left of them.
 */
export async function startTcpDouble(
  serve: (socket: Socket) => (bytes: Buffer) => Buffer,
  certificate?: { readonly pem: string; readonly key: string },
) {
  const sockets = new Set<Socket>();
  const connected = (socket: Socket): void => {
    sockets.add(socket);
    const read = serve(socket);
    let rest: Buffer = Buffer.alloc(0);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (bytes: Buffer) => {
      rest = read(Buffer.concat([rest, bytes]));
    });
  };
  const server =
    certificate === undefined
      ? createServer(connected)
      : createTlsServer({ cert: certificate.pem, key: certificate.key }, connected);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, close };
}
