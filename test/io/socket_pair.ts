import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Both ends of a connection, closed after the test; theirs reads nothing until it is resumed. */
export async function socketPair(
  options: { readonly highWaterMark?: number } = {},
): Promise<{ readonly ours: Socket; readonly theirs: Socket }> {
  const server = createServer({ pauseOnConnect: true });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  const ours = connect({ port, host: '127.0.0.1', ...options });
  await once(ours, 'connect');
  const [theirs] = await accepted;
  onTestFinished(() => {
    ours.destroy();
    theirs.destroy();
    server.close();
  });
  return { ours, theirs };
}
