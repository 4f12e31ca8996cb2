import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { start } from './command.ts';
import { freePort } from '../free_port.ts';

/** An application that answers with the body that it gets. */
async function startApp(port: number): Promise<{ readonly stop: () => Promise<void> }> {
  const app = createServer((asked, response) => asked.pipe(response)).listen(port, '127.0.0.1');
  await once(app, 'listening');
  return {
    stop: async () => {
      app.close();
      app.closeAllConnections();
      await once(app, 'close');
    },
  };
}

const edgeTo = (backends: Readonly<Record<string, number>>, route: string) => `backends:
${Object.entries(backends)
  .map(([name, port]) => `  ${name}: { static: { address: '127.0.0.1:${port}' } }\n`)
  .join('')}  either: { failover: [app, other] }
edges:
  https:
    shop:
      hostports: ['shop.localhost:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: ${route} } }]
`;

it('dev says which upstreams are missing, and when they are there', async () => {
  const [app, other] = [await freePort(), await freePort()];
  const folder = folderWith({ 'edge.yaml': edgeTo({ app, other: app }, 'app') });
  const dev = start(['dev', '--port', '0', '--no-inspector'], folder);
  const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await dev.waitFor(
    new RegExp(
      `waiting for app, other at 127\\.0\\.0\\.1:${app}: nothing listens there; requests get 502 meanwhile`,
    ),
  );
  expect((await fetch(url!)).status).toBe(502);
  const running = await startApp(app);
  await dev.waitFor(new RegExp(`\\napp, other at 127\\.0\\.0\\.1:${app} is there`));
  expect((await fetch(url!)).status).toBe(200);
  // A backend that is new in the file is sought, too.
  writeFileSync(join(folder, 'edge.yaml'), edgeTo({ app, other }, 'app'));
  await dev.waitFor(new RegExp(`revision 2 is live[^]*waiting for other at 127\\.0\\.0\\.1:${other}`));
  // One that goes away is missed by the next request.
  await running.stop();
  expect((await fetch(url!)).status).toBe(502);
  await dev.waitFor(new RegExp(`is there[^]*waiting for app at 127\\.0\\.0\\.1:${app}`));
  expect(await dev.stop('SIGTERM')).toBe(0);
});

it('http names an upstream by its address', async () => {
  const port = await freePort();
  const http = start(['http', String(port), '--port', '0', '--no-inspector'], folderWith());
  await http.waitFor(new RegExp(`\\nwaiting for 127\\.0\\.0\\.1:${port}: nothing listens there`));
  expect(await http.stop('SIGTERM')).toBe(0);
});

it('requests wait for an upstream with --wait-upstream, with their bodies', async () => {
  const [app, other] = [await freePort(), await freePort()];
  const folder = folderWith({ 'edge.yaml': edgeTo({ app, other }, 'app') });
  const dev = start(['dev', '--port', '0', '--no-inspector', '--wait-upstream', '60s'], folder);
  const [, url] = await dev.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  await dev.waitFor(/waiting for app at \S+: nothing listens there; requests wait for it, up to 60 s/);
  const posted = fetch(url!, { method: 'POST', body: 'a body' });
  const streamed = new Promise<string>((resolve) => {
    // Without a length the body is read only when the upstream is there.
    const sent = request(url!, { method: 'POST' }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      response.on('end', () => resolve(text));
    });
    sent.write('piece ');
    sent.end('by piece');
  });
  // A client that leaves is not waited for, and the others are.
  const leaving = connect(Number(new URL(url!).port), '127.0.0.1');
  leaving.write('GET /left HTTP/1.1\r\nhost: shop.localhost\r\n\r\n', () => leaving.destroy());
  await dev.waitFor(/\/left/);
  const running = await startApp(app);
  expect(await (await posted).text()).toBe('a body');
  expect(await streamed).toBe('piece by piece');
  // A backend with another one behind it is not waited for.
  await running.stop();
  const second = await startApp(other);
  writeFileSync(join(folder, 'edge.yaml'), edgeTo({ app, other }, 'either'));
  await dev.waitFor(/revision 2 is live/);
  const began = performance.now();
  expect((await fetch(url!)).status).toBe(200);
  expect(performance.now() - began).toBeLessThan(30_000);
  await dev.waitFor(/other at \S+ is there/);
  await second.stop();
  // A stop ends the waiting.
  const cut = fetch(url!).then(({ status }) => status);
  await dev.waitFor(/other at \S+ is there[^]*waiting for other at/);
  const stopping = performance.now();
  expect(await dev.stop('SIGTERM')).toBe(0);
  expect(performance.now() - stopping).toBeLessThan(9_000);
  expect(await cut).toBe(502);
});

it('connections of TCP edges wait, too', async () => {
  const port = await freePort();
  const place = await freePort();
  const folder = folderWith({
    'edge.yaml': `backends: { db: { static: { address: '127.0.0.1:${port}' } } }
edges: { tcp: { db: { hostports: ['1.tcp.test:${place}'], backend: { backend_id: db } } } }
`,
  });
  const dev = start(['dev', '--port', '0', '--no-inspector', '--wait-upstream', '60s'], folder);
  await dev.waitFor(/waiting for db at/);
  const client = connect(place, '127.0.0.1');
  client.write('ping');
  const db = createTcpServer((socket) => socket.pipe(socket)).listen(port, '127.0.0.1');
  const [echoed] = (await once(client, 'data')) as [Buffer];
  expect(echoed.toString()).toBe('ping');
  client.destroy();
  db.close();
  expect(await dev.stop('SIGTERM')).toBe(0);
});

it('an upstream that greets gets no reset from a look at it', async () => {
  const errors: Error[] = [];
  const ended = Promise.withResolvers<void>();
  const greeter = createTcpServer((socket) => {
    socket.on('error', (error) => errors.push(error));
    socket.once('close', () => ended.resolve());
    socket.once('end', () => socket.end('goodbye'));
    socket.resume().write('hello');
  }).listen(0, '127.0.0.1');
  await once(greeter, 'listening');
  const { port } = greeter.address() as AddressInfo;
  const folder = folderWith({ 'edge.yaml': edgeTo({ app: port, other: port }, 'app') });
  const dev = start(['dev', '--port', '0', '--no-inspector'], folder);
  await ended.promise;
  expect(errors).toEqual([]);
  expect(await dev.stop('SIGTERM')).toBe(0);
  greeter.close();
});
