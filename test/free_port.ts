import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems assign on their own, which other tests get. */
const [LOWEST, BELOW] = [15_000, 32_000];

/** A port of the loopback interface that is free now. Only for what cannot bind port 0 itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, BELOW);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
