import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { edgeOf, usable } from '../../src/edgeproof.ts';
import type { Explanation } from '../../src/edge/explain.ts';

const edgeFile = (port: number, above: string): string => `${above}backends:
  app: { static: { address: '127.0.0.1:${port}' } }
edges:
  https:
    site:
      hostports: ['site.test:443']
      routes:
        - match_type: path_prefix
          match: /
          request_headers: { add: { x-one: '1' } }
          backend: { backend_id: app }
`;

const REQUEST = 'GET / HTTP/1.1\r\nHost: site.test\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

test('an exchange during a swap is explained with the lines of the file that it began with', async () => {
  let asked: Socket | null = null;
  const upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      asked = socket;
      socket.on('data', () => socket.write(OK));
    });
  });
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const checked = (above: string) =>
    usable(checkWholeEdge({ name: 'edge.yaml', text: edgeFile(port, above) }));
  const told: Explanation[] = [];
  const edge = edgeOf(checked(''), { onEvent: (_event, explain) => told.push(explain()) });
  const listening = await edge.listen();
  const client = connect(listening.port, '127.0.0.1');
  client.write(REQUEST);
  await expect.poll(() => asked).not.toBeNull();
  edge.swapTo(checked('# one line\n# and another\n'));
  asked!.write(OK);
  await once(client, 'data');
  client.write(REQUEST);
  await expect.poll(() => told.length).toBe(2);
  const lines = told.map(({ steps }) => steps.find(({ place }) => place !== null)!.place!.line);
  expect(lines[1]! - lines[0]!).toBe(2);
  client.destroy();
  await listening.close(0);
  upstream.close();
});
