import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createViteServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpRequestCompleteEvent } from '../../src/index.ts';
import { behavesBehindAnEdge } from './contract.ts';
import { type Handler, LONG_TEXT, edgeBefore, serving } from './edge.ts';

const plain: Handler = (request, response) => {
  response.setHeader('X-App', 'yes');
  if (request.url === '/long') {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(request.method === 'HEAD' ? undefined : LONG_TEXT);
    return;
  }
  if (request.url === '/boom') {
    response.statusCode = 500;
    response.end('boom');
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text: string) => void (body += text));
  request.on('end', () => {
    const { url, method, headers } = request;
    response.writeHead(200, ['content-type', 'application/json']);
    const [edge, secret] = [headers['x-edge'] ?? null, headers['x-secret'] ?? null];
    response.end(JSON.stringify({ url, method, edge, secret, body }));
  });
};

describe('a handler of node:http', () => {
  behavesBehindAnEdge((edge) => serving(edge.node(plain)));
});

describe('more features of node:http', () => {
  it('streams: the client has the first piece before the application writes the second', async () => {
    let writeSecond = (): void => undefined;
    const app = await serving(
      edgeBefore().node((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: 1\n\n');
        writeSecond = () => void response.end('data: 2\n\n');
      }),
    );
    const response = await fetch(`${app.url}/stream`);
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 1\n\n');
    writeSecond();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 2\n\n');
    expect((await reader.read()).done).toBe(true);
    await app.close();
  });

  it('notifies the application of a client that leaves, and ends the exchange', async () => {
    const events: HttpRequestCompleteEvent[] = [];
    let closed: () => void = () => undefined;
    const isClosed = new Promise<void>((resolve) => void (closed = resolve));
    let reached: () => void = () => undefined;
    const isReached = new Promise<void>((resolve) => void (reached = resolve));
    const app = await serving(
      edgeBefore(events).node((_request, response) => {
        response.once('close', closed);
        reached();
      }),
    );
    const request = send(`${app.url}/slow`).on('error', () => undefined);
    request.end();
    await isReached;
    request.destroy();
    await isClosed;
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]!.object.http.response.status_code).toBe(0);
    await app.close();
  });

  it('reads a chunked body that a policy has read before', async () => {
    const app = await serving(edgeBefore().node(plain));
    const body = await new Promise<string>((resolve) => {
      const request = send(`${app.url}/swap`, { method: 'POST' }, (response) => {
        let text = '';
        response
          .on('data', (piece: Buffer) => void (text += piece.toString()))
          .on('end', () => resolve(text));
      });
      request.write('a c');
      setImmediate(() => request.end('at'));
    });
    expect(JSON.parse(body)).toMatchObject({ body: 'a tiger' });
    await app.close();
  });

  it('responds to invalid requests without the application', async () => {
    let calls = 0;
    const app = await serving(
      edgeBefore().node((_request, response) => {
        calls++;
        response.end();
      }),
    );
    const response = await fetch(`${app.url}/a%2f..%2fb`);
    expect(response.status).toBe(400);
    expect(calls).toBe(0);
    await app.close();
  });
});

describe('a Vite 8 dev server', () => {
  let folder: string;
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'edgeproof-vite-'));
    await writeFile(
      join(folder, 'index.html'),
      '<!doctype html><script type="module" src="/main.js"></script>',
    );
    await writeFile(join(folder, 'main.js'), 'export const answer = 42;\n');
    const vite = await createViteServer({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      plugins: [edgeBefore().vite()],
      server: { port: 0, host: '127.0.0.1', hmr: false, ws: false },
      optimizeDeps: { noDiscovery: true },
    });
    await vite.listen();
    url = `http://127.0.0.1:${(vite.httpServer!.address() as AddressInfo).port}`;
    close = () => vite.close();
  });
  afterAll(async () => {
    await close();
    await rm(folder, { recursive: true, force: true });
  });

  it('serves requests that the edge passes, with its response phase', async () => {
    const page = await fetch(`${url}/`);
    expect(page.status).toBe(200);
    expect(page.headers.get('x-seen')).toBe('200');
    expect(await page.text()).toContain('/main.js');
    expect(await (await fetch(`${url}/main.js`)).text()).toContain('answer = 42');
  });

  it('does not serve requests that the edge stops', async () => {
    expect((await fetch(`${url}/admin`)).status).toBe(403);
  });
});
