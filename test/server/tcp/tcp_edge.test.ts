import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { PerformanceObserver } from 'node:perf_hooks';
import { afterEach, describe, expect, it } from 'vitest';
import { settled } from '../../io/settled.ts';
import { type Backend, type LiveEdge, backend, dial, echo, liveEdge, received } from './peers.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function started(serve: Parameters<typeof backend>[0]): Promise<Backend> {
  const made = await backend(serve);
  closing.push(made.close);
  return made;
}

async function edgeFor(config: object, ...rest: unknown[]): Promise<LiveEdge> {
  const made = await liveEdge(config, ...(rest as []));
  closing.push(made.close);
  return made;
}

const PG = '1.tcp.test:5432';
const tcpEdge = (address: string, more: object = {}, rest: object = {}) => ({
  backends: { db: { static: { address } } },
  edges: { tcp: { pg: { hostports: [PG], backend: { backend_id: 'db' }, ...more } } },
  ...rest,
});

describe('a TCP edge', () => {
  it('carries bytes in both directions, and one event counts them', async () => {
    const { address } = await started(echo);
    const live = await edgeFor(tcpEdge(address));
    const client = await dial(live.portOf(PG));
    client.end('hello');
    expect((await received(client)).toString()).toBe('hello');
    const event = await live.nextEvent();
    expect(event.conn).toMatchObject({
      bytes_in: 5,
      bytes_out: 5,
      client_ip: '127.0.0.1',
      server_name: '1.tcp.test',
      server_port: 5432,
    });
    expect(event.ip_policy.decision).toBe('invalid');
    expect(live.explained[0]!.outcome).toBe('allowed');
    expect(live.explained[0]!.steps.map(({ code }) => code)).toEqual([
      'connect.matched',
      'backend.picked',
      'upstream.connected',
    ]);
    expect(live.events).toHaveLength(1);
  });

  it('shares one lookup of a name among its connections: there are few threads for all names', async () => {
    const { port } = await started(echo);
    const live = await edgeFor(tcpEdge(`localhost:${port}`));
    let lookups = 0;
    const observer = new PerformanceObserver((seen) => {
      for (const { name } of seen.getEntries()) if (name === 'lookup') lookups++;
    });
    observer.observe({ type: 'dns' });
    const clients = await Promise.all(Array.from({ length: 20 }, () => dial(live.portOf(PG))));
    for (const client of clients) client.end('hello');
    const all = await Promise.all(clients.map(received));
    expect(new Set(all.map(String))).toEqual(new Set(['hello']));
    await expect.poll(() => lookups).toBe(1);
    observer.disconnect();
  });

  it('passes on the end of one direction while the other continues', async () => {
    const seen: string[] = [];
    const { address } = await started((socket) => {
      socket.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
      socket.on('end', () => socket.write('after your end', () => socket.end('.')));
    });
    const live = await edgeFor(tcpEdge(address));
    const client = await dial(live.portOf(PG));
    client.end('question');
    expect((await received(client)).toString()).toBe('after your end.');
    expect(seen.join('')).toBe('question');
    expect((await live.nextEvent()).conn).toMatchObject({ bytes_in: 8, bytes_out: 15 });

    const talker = await started((socket) => void socket.end('bye'));
    const other = await edgeFor(tcpEdge(talker.address));
    const listener = await dial(other.portOf(PG));
    expect((await received(listener)).toString()).toBe('bye');
    // The backend has ended only its direction; ours is still open.
    expect(listener.writable).toBe(true);
    listener.end('late');
    expect((await other.nextEvent()).conn).toMatchObject({ bytes_in: 4, bytes_out: 3 });
  });

  it('applies backpressure to the backend while the client does not read', async () => {
    const total = 64 * 1_048_576;
    const block = Buffer.alloc(65_536, 'x');
    let written = 0;
    const { address } = await started((socket) => {
      const more = (): void => {
        while (written < total) {
          written += block.length;
          if (!socket.write(block)) return void socket.once('drain', more);
        }
        socket.end();
      };
      more();
    });
    const live = await edgeFor(tcpEdge(address));
    const client = await dial(live.portOf(PG));
    client.pause();
    // Waiting data is in the buffers of two sockets in each direction, not in this process.
    expect(await settled(() => written, 1)).toBeLessThan(total / 2);
    const hash = createHash('sha256');
    let bytes = 0;
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    client.resume();
    await once(client, 'end');
    client.end();
    expect(bytes).toBe(total);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(Buffer.alloc(total, 'x')).digest('hex'));
    expect((await live.nextEvent()).conn).toMatchObject({ bytes_in: 0, bytes_out: total });
  });

  it('passes on a reset as a reset', async () => {
    const { address } = await started((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    const live = await edgeFor(tcpEdge(address));
    const client = await dial(live.portOf(PG));
    const failed = once(client, 'error');
    client.write('x');
    const [error] = (await failed) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    await live.nextEvent();
    expect(live.explained[0]!.steps.at(-1)!.code).toBe('stream.upstream');
  });

  it('accepts only allowed addresses', async () => {
    const { address, server } = await started(echo);
    let connections = 0;
    server.on('connection', () => connections++);
    const live = await edgeFor(
      tcpEdge(
        address,
        { ip_restriction: { ip_policy_ids: ['office'] } },
        {
          ip_policies: {
            office: {
              rules: [
                { cidr: '127.0.0.0/24', action: 'allow' },
                { cidr: '127.0.0.2/32', action: 'deny' },
              ],
            },
          },
        },
      ),
    );
    const good = await dial(live.portOf(PG));
    good.end('a');
    expect((await received(good)).toString()).toBe('a');
    expect((await live.nextEvent()).ip_policy.decision).toBe('allow');
    const bad = await dial(live.portOf(PG), '127.0.0.2');
    expect((await received(bad)).length).toBe(0);
    const event = await live.nextEvent();
    expect(event).toMatchObject({
      ip_policy: { decision: 'block' },
      conn: { client_ip: '127.0.0.2', bytes_in: 0, bytes_out: 0 },
    });
    expect(live.explained[1]).toMatchObject({
      outcome: 'denied',
      decidedBy: { code: 'ip_restriction.denied', detail: { rule: 'office#1' } },
    });
    expect(connections).toBe(1);
  });

  it('runs the policy of its connections, and keeps its logs', async () => {
    const { address } = await started(echo);
    const value = JSON.stringify({
      on_tcp_connect: [
        { actions: [{ type: 'log', config: { metadata: { from: '${conn.client_ip}' } } }] },
        {
          name: 'closed',
          expressions: ["conn.client_ip == '127.0.0.3' && conn.server_port == 5432"],
          actions: [{ type: 'deny' }],
        },
      ],
    });
    const live = await edgeFor(tcpEdge(address, { traffic_policy: { value } }));
    const good = await dial(live.portOf(PG));
    good.end('a');
    expect((await received(good)).toString()).toBe('a');
    const event = await live.nextEvent();
    expect(event.traffic_policy.logs).toEqual([{ metadata: { from: '127.0.0.1' } }]);
    const bad = await dial(live.portOf(PG), '127.0.0.3');
    expect((await received(bad)).length).toBe(0);
    await live.nextEvent();
    expect(live.explained[1]!.decidedBy).toMatchObject({
      code: 'traffic_policy.closed',
      detail: { rule: 'closed', action: 'deny' },
    });
  });

  it('uses the next backend when one cannot be reached, and reports it', async () => {
    const gone = await backend(echo);
    await gone.close();
    const there = await started((socket) => void socket.end('second'));
    const live = await edgeFor({
      backends: {
        first: { static: { address: gone.address } },
        second: { static: { address: there.address } },
        both: { failover: ['first', 'second'] },
      },
      edges: { tcp: { pg: { hostports: [PG], backend: { backend_id: 'both' } } } },
    });
    const client = await dial(live.portOf(PG));
    client.end();
    expect((await received(client)).toString()).toBe('second');
    await live.nextEvent();
    expect(live.explained[0]!.steps.map(({ code }) => code)).toContain('upstream.connect');
    expect(live.explained[0]).toMatchObject({ backend: 'second', outcome: 'allowed' });

    const alone = await edgeFor(tcpEdge(gone.address));
    const refused = await dial(alone.portOf(PG));
    expect((await received(refused)).length).toBe(0);
    await alone.nextEvent();
    expect(alone.explained[0]).toMatchObject({ outcome: 'denied', decidedBy: { code: 'upstream.connect' } });
  });

  it('chooses by weight for each connection', async () => {
    const one = await started((socket) => void socket.end('1'));
    const two = await started((socket) => void socket.end('2'));
    const draws = [0.1, 0.74, 0.76, 0.2, 0.99];
    let turn = 0;
    const random = () => draws[turn++ % draws.length]!;
    const live = await edgeFor(
      {
        backends: {
          one: { static: { address: one.address } },
          two: { static: { address: two.address } },
          split: { weighted: { one: 3, two: 1 } },
        },
        edges: { tcp: { pg: { hostports: [PG], backend: { backend_id: 'split' } } } },
      },
      {},
      { random },
    );
    turn = 0;
    let got = '';
    for (const _each of draws) {
      const client = await dial(live.portOf(PG));
      client.end();
      got += (await received(client)).toString();
      await live.nextEvent();
    }
    expect(got).toBe('11212');
  });

  it('closes a connection that is idle for too long', async () => {
    const { address } = await started(() => undefined);
    const live = await edgeFor(tcpEdge(address), {
      tcp: { ports: { [PG]: 0 } },
      streamLimits: { idleMs: 150 },
    });
    const client = await dial(live.portOf(PG));
    client.write('x');
    await received(client);
    expect((await live.nextEvent()).conn.bytes_in).toBe(1);
    expect(live.explained[0]!.steps.at(-1)!.code).toBe('stream.idle');
  });

  it('drains: accepts nothing more, lets connections end, then closes them', async () => {
    const { address } = await started(echo);
    const live = await edgeFor(tcpEdge(address));
    const port = live.portOf(PG);
    const ending = await dial(port);
    const staying = await dial(port);
    for (const each of [ending, staying]) {
      each.write('a');
      await once(each, 'data');
    }
    const closed = live.listening.close(400);
    await expect(dial(port)).rejects.toThrow();
    ending.end('b');
    expect((await received(ending)).toString()).toBe('b');
    expect(await closed).toEqual({ cut: 1 });
    await live.nextEvent();
    await live.nextEvent();
    expect(live.explained.map(({ steps }) => steps.at(-1)!.code).sort()).toEqual([
      'stream.drained',
      'upstream.connected',
    ]);
  });

  it('keeps open connections when the configuration changes', async () => {
    const one = await started(echo);
    const two = await started((socket) => void socket.end('two'));
    const live = await edgeFor(tcpEdge(one.address));
    const port = live.portOf(PG);
    const before = await dial(port);
    before.write('a');
    await once(before, 'data');
    live.edge.swap(tcpEdge(two.address));
    const after = await dial(port);
    after.end();
    expect((await received(after)).toString()).toBe('two');
    before.end('b');
    expect((await received(before)).toString()).toBe('b');
  });
});
