import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openManagement } from '../../src/control/management.ts';
import { readPorts } from '../../src/cli/stream_options.ts';
import type { ListenOptions, Listening } from '../../src/listening.ts';
import { type Backend, backend, echo } from '../server/tcp/peers.ts';
import { type Instance, startInstance } from './instance.ts';
import { freePort } from '../free_port.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const ANY = (port: number): boolean => port >= 1024;

interface Setting {
  readonly instance: Instance;
  readonly listening: Listening;
  readonly upstream: Backend;
  readonly said: string[];
  readonly make: (hostports: readonly string[], kind?: string) => ReturnType<Instance['call']>;
}

async function setting(options: Partial<ListenOptions> = {}): Promise<Setting> {
  const said: string[] = [];
  const instance = await startInstance();
  open.push(instance.close);
  const upstream = await backend(echo);
  open.push(upstream.close);
  const listening = await instance.management.edge.listen({
    tls: {},
    tcp: {},
    edgePorts: ANY,
    say: (text) => said.push(text),
    ...options,
  });
  open.push(() => listening.close(0));
  const { id } = await instance.make('/backends/static', { address: upstream.address });
  const make: Setting['make'] = (hostports, kind = 'tcp') =>
    instance.call('POST', `/edges/${kind}`, { hostports, backend: { backend_id: id } });
  return { instance, listening, upstream, said, make };
}

/** A port that another listener has. */
async function taken(): Promise<{ readonly port: number; readonly free: () => Promise<void> }> {
  const server: Server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const free = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  open.push(free);
  return { port: (server.address() as AddressInfo).port, free };
}

/** What an edge at a port answers; null without a listener. */
function answer(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('hello'));
    socket.once('data', (chunk: Buffer) => {
      resolve(chunk.toString());
      socket.destroy();
    });
    socket.once('error', () => resolve(null)).once('close', () => resolve(null));
  });
}

describe('a write of an edge whose port is in use', () => {
  it.each(['tcp', 'tls'])('is refused with the port, and nothing has changed: %s', async (kind) => {
    const { instance, listening, make } = await setting();
    const { port, free } = await taken();
    const before = listening.ports();
    const { status, body } = await make([`db.test:${port}`], kind);
    expect([status, body.error_code]).toEqual([409, 'ERR_SERVICE_7122']);
    expect(body.details).toMatchObject({
      port: String(port),
      hostport: `db.test:${port}`,
      pointer: '/hostports/0',
    });
    expect(body.msg).toContain(`port ${port} of this machine, which is in use`);
    expect((await instance.call('GET', `/edges/${kind}`)).body[`${kind}_edges`]).toEqual([]);
    expect(listening.ports()).toEqual(before);
    await free();
    expect((await make([`db.test:${port}`], kind)).status).toBe(201);
    expect(listening.ports().map(({ listensOn }) => listensOn)).toContain(port);
  });

  it('keeps the old port of the edge if it is an update', async () => {
    const { instance, make } = await setting();
    const { port: other } = await taken();
    const port = await freePort();
    const { body: edge } = await make([`db.test:${port}`]);
    const at = `/edges/tcp/${edge.id}`;
    const refused = await instance.call('PATCH', at, { hostports: [`db.test:${port}`, `db.test:${other}`] });
    expect([refused.status, refused.body.details.pointer]).toEqual([409, '/hostports/1']);
    expect((await instance.call('PATCH', at, { hostports: [`db.test:${other}`] })).status).toBe(409);
    expect((await instance.call('GET', at)).body.hostports).toEqual([`db.test:${port}`]);
    expect(await answer(port)).toBe('hello');
  });

  it('is refused as part of a file, and nothing of the file is stored', async () => {
    const { instance, upstream } = await setting();
    const { port } = await taken();
    const file = {
      backends: { up: { static: { address: upstream.address } } },
      edges: { tcp: { db: { hostports: [`db.test:${port}`], backend: { backend_id: 'up' } } } },
    };
    const { status, body } = await instance.call('PUT', '/edge_file', file);
    expect([status, body.details.port]).toEqual([409, String(port)]);
    expect((await instance.call('GET', '/edges/tcp')).body.tcp_edges).toEqual([]);
  });

  it('is refused if another edge has the port under another name', async () => {
    const { make } = await setting();
    const port = await freePort();
    expect((await make([`a.test:${port}`])).status).toBe(201);
    expect((await make([`b.test:${port}`])).status).toBe(409);
    expect((await make([`c.test:${port}`], 'tls')).status).toBe(409);
    expect(await answer(port)).toBe('hello');
  });

  it('is refused if the edge itself listens on the port', async () => {
    const { listening, make } = await setting();
    expect((await make([`a.test:${listening.port}`])).status).toBe(409);
  });
});

describe('a port that is in use when the instance starts', () => {
  it('is reported, affects nothing else, and is opened when it is free', async () => {
    const first = await setting();
    const port = await freePort();
    await first.make([`db.test:${port}`]);
    const storePath = join(first.instance.folder, 'store.db');
    await first.listening.close(0);
    await first.instance.management.close();
    open[0] = () => rmSync(first.instance.folder, { recursive: true, force: true });

    const blocker: Server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    await once(blocker, 'listening');
    const management = await openManagement({ storePath });
    open.push(() => management.close());
    const said: string[] = [];
    const listening = await management.edge.listen({
      tls: {},
      tcp: {},
      edgePorts: ANY,
      say: (text) => said.push(text),
    });
    open.push(() => listening.close(0));
    expect(said).toEqual([
      expect.stringMatching(new RegExp(`TCP db\\.test:${port}: .*another program listens there`)),
    ]);
    expect(listening.ports().filter(({ kind }) => kind === 'tcp')).toEqual([]);
    // Writes about something else are not refused for it.
    const api = await management.listen();
    open.push(() => api.close());
    const written = await fetch(`${api.url}/backends/http_response`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${first.instance.key}`,
        'service-version': '2',
        'content-type': 'application/json',
      },
      body: '{"body":"x"}',
    });
    expect([written.status, await answer(port)]).toEqual([201, null]);

    blocker.close();
    await once(blocker, 'close');
    await expect.poll(() => answer(port), { timeout: 10_000, interval: 100 }).toBe('hello');
    expect(said).toHaveLength(1);
  });

  it('does not fail unrelated writes', async () => {
    const { instance, make } = await setting();
    const [port, other] = [await freePort(), await freePort()];
    const { body: edge } = await make([`db.test:${port}`]);
    await instance.call('PATCH', `/edges/tcp/${edge.id}`, { hostports: [`db.test:${other}`] });
    const blocker: Server = createServer().listen(port, '127.0.0.1');
    await once(blocker, 'listening');
    open.push(() => blocker.close());
    expect((await instance.call('PATCH', `/edges/tcp/${edge.id}`, { metadata: 'x' })).status).toBe(200);
    expect((await make([`db2.test:${port}`])).status).toBe(409);
    expect(await answer(other)).toBe('hello');
  });
});

describe('ports that edges are not allowed to use', () => {
  it('are refused, unless they are mapped to another one', async () => {
    const [allowed, mapped] = [await freePort(), await freePort()];
    const { listening, make } = await setting({
      edgePorts: (port) => port === allowed,
      tcp: { ports: { 'mapped.test:22': mapped } },
    });
    const { status, body } = await make(['ssh.test:22']);
    expect([status, body.error_code, body.details]).toEqual([
      400,
      'ERR_SERVICE_7112',
      expect.objectContaining({ port: '22', pointer: '/hostports/0' }),
    ]);
    expect((await make([`tls.test:${allowed + 1}`], 'tls')).status).toBe(400);
    expect((await make([`db.test:${allowed}`])).status).toBe(201);
    expect((await make(['mapped.test:22'])).status).toBe(201);
    expect((await make(['web.test:443'], 'tls')).status).toBe(201);
    expect([await answer(allowed), await answer(mapped)]).toEqual(['hello', 'hello']);
    expect(listening.ports().some(({ listensOn }) => listensOn === 22)).toBe(false);
  });

  it('are parsed from ranges', () => {
    const fits = readPorts('5000-5002, 6432');
    expect([4999, 5000, 5002, 5003, 6432].map(fits)).toEqual([false, true, true, false, true]);
    for (const bad of ['', '0', '65536', '6-5', 'a', '1-2-3', '1,,2'])
      expect(() => readPorts(bad)).toThrow(/ports/);
  });
});
