import { request } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Explanation } from '../../src/edge/explain.ts';
import { Multiplexer } from '../../src/tunnel/mux/multiplexer.ts';
import type { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { ProxiedConnections } from '../../src/tunnel/proxied_connections.ts';
import { edgeWithAgents } from './agent.ts';
import { IS_FULL } from '../random.ts';
import { AUTH, CALL, afterHead, handmadeAgent } from './handmade_agent.ts';

function status(url: string, method = 'GET'): Promise<number> {
  return new Promise((resolve) => {
    request(url, { method, headers: { host: 'shop.test' }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!)).on('error', () => resolve(0));
    })
      .on('error', () => resolve(0))
      .end();
  });
}

const SHOP = {
  backends: { shop: { tunnel_group: { labels: { app: 'shop' } } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'shop' } }],
      },
    },
  },
};

/** An edge whose requests go to tunnels of agents, and the reasons of its events. */
async function shop(connectMs = 10_000) {
  const reasons: string[] = [];
  const edge = await edgeWithAgents(
    SHOP,
    {},
    { onEvent: (_event, explain: () => Explanation) => reasons.push(explain().decidedBy.code) },
    { upstreamLimits: { connectMs } },
  );
  /** A tunnel of the group, with a session of its own. */
  const tunnel = async (carried: (stream: StreamDuplex) => void, ForwardsProto = '') => {
    const agent = handmadeAgent(edge.agents, carried);
    await agent.call(CALL.auth, AUTH);
    const answer = await agent.call(
      CALL.labelled,
      JSON.stringify({ Labels: { app: 'shop' }, ForwardsTo: 'x', ForwardsProto, Metadata: '' }),
    );
    return { ...agent, id: JSON.parse(answer!).Id as string };
  };
  return { ...edge, reasons, tunnel, url: edge.listening.url };
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const answers = (stream: StreamDuplex): void => afterHead(stream, () => stream.write(OK));

test('connections beyond the places of an agent wait, then fail with 503 and their reason', async () => {
  const { url, tunnel, reasons, agents } = await shop(150);
  const silent: StreamDuplex[] = [];
  await tunnel((stream) => void silent.push(stream.pause()));
  const held = Array.from({ length: 60 }, () => status(url));
  await expect.poll(() => silent.length).toBe(60);
  expect(await status(url)).toBe(503);
  expect(reasons).toEqual(['upstream.overloaded']);
  const waiting = status(url);
  for (const stream of silent.splice(0)) answers(stream);
  expect(await Promise.race([waiting, Promise.all(held).then(() => waiting)])).toBeGreaterThan(0);
  expect(new Set(await Promise.all(held))).toEqual(new Set([200]));
  expect(reasons.filter((code) => code === 'upstream.answered').length).toBeGreaterThanOrEqual(60);
  agents.close('test');
});

test('a full tunnel is left for another one of its group', async () => {
  const { url, tunnel, reasons } = await shop(100);
  const silent: StreamDuplex[] = [];
  await tunnel((stream) => void silent.push(stream.pause()));
  const held = Array.from({ length: 60 }, () => status(url));
  await expect.poll(() => silent.length).toBe(60);
  await tunnel(answers);
  const more = await Promise.all(Array.from({ length: 20 }, () => status(url)));
  expect([...new Set(more)]).toEqual([200]);
  expect(new Set(reasons)).toEqual(new Set(['upstream.answered']));
  for (const stream of silent) answers(stream);
  await Promise.all(held);
});

test('so many may wait, the next fails at once', async () => {
  const mux = new Multiplexer(
    { opened: () => null, room: (bytes) => Buffer.allocUnsafe(bytes), exhausted: () => undefined },
    { firstId: 2, peerStreams: 1 },
  );
  const connections = new ProxiedConnections(mux);
  const head = { Id: 't', ClientAddr: '', Proto: 'https', EdgeType: '0', PassthroughTLS: false };
  const all = Array.from({ length: 60 + 1_024 + 5 }, () => connections.open(head, null));
  const failed: string[] = [];
  for (const each of all) each.on('error', ({ message }) => failed.push(message));
  await new Promise((resolve) => setImmediate(resolve));
  expect(failed).toEqual(Array(5).fill('too many connections wait for the agent'));
  expect([mux.ownStreams, all.filter(({ isWaiting }) => isWaiting).length]).toEqual([60, 1_024 + 5]);
  // Each read from the agent looks for free places: at a tunnel once, however many wait for it.
  let looks = 0;
  for (const each of all.slice(0, 60))
    Object.defineProperty(each, 'isTaken', { get: () => (looks++, false), configurable: true });
  connections.next();
  expect(looks).toBe(60);
  // A connection that is given up frees its place for the first one that waits.
  all[0]!.destroy();
  await new Promise((resolve) => setImmediate(resolve));
  expect([mux.ownStreams, all[60]!.isWaiting, all[61]!.isWaiting]).toEqual([60, false, true]);
  connections.close('gone');
  mux.close(0);
});

test('one stream that is not read delays no other', async () => {
  const { tunnel, agents } = await shop();
  const streams: StreamDuplex[] = [];
  const { id } = await tunnel((stream) => void streams.push(stream.pause()));
  const slow = agents.openTunnel(id, 'tcp', null)!;
  const swift = agents.openTunnel(id, 'tcp', null)!;
  await expect.poll(() => streams.length).toBe(2);
  // More than its window: the rest waits at the edge, and no write is accepted.
  let isFull = !slow.write(Buffer.alloc(1_000_000));
  expect(isFull).toBe(true);
  let received = 0;
  afterHead(streams[1]!, (bytes) => (received += bytes.length));
  for (let sent = 0; sent < 3_000_000; sent += 100_000)
    if (!swift.write(Buffer.alloc(100_000))) await new Promise((resolve) => swift.once('drain', resolve));
  await expect.poll(() => received).toBe(3_000_000);
  slow.once('drain', () => (isFull = false));
  expect(isFull).toBe(true);
  streams[0]!.resume();
  await expect.poll(() => isFull).toBe(false);
});

test.each(['is lost', 'is unbound'])(
  'a tunnel that %s in flight: what can be repeated is answered by another, the rest ends with its reason',
  async (how) => {
    const { url, tunnel, reasons } = await shop();
    let asked = 0;
    const first = await tunnel((stream) => afterHead(stream, () => void asked++));
    const isLost = how === 'is lost';
    await tunnel(answers);
    const methods = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? 'POST' : 'GET'));
    const all = Promise.all(methods.map((method) => status(url, method)));
    await expect.poll(() => asked + reasons.length).toBe(40);
    if (isLost) first.socket.destroy();
    else await first.call(CALL.unbind, JSON.stringify({ Id: first.id }));
    const statuses = await all;
    const lost = statuses.filter((each) => each !== 200).length;
    expect(methods.filter((method, index) => method === 'GET' && statuses[index] !== 200)).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set([200, 502]));
    expect(reasons.toSorted()).toEqual([
      ...Array(40 - lost).fill('upstream.answered'),
      ...Array(lost).fill('upstream.reset'),
    ]);
  },
);

/** Serves HTTP/2 over a carried connection. */
function http2Over(stream: StreamDuplex, serve: (asking: ServerHttp2Stream) => void): void {
  let held = Buffer.alloc(0);
  const take = (bytes: Buffer): void => {
    held = Buffer.concat([held, bytes]);
    const start = held.length < 12 ? Infinity : 12 + Number(held.readBigInt64LE(4));
    if (held.length < start) return;
    stream.off('data', take).pause();
    if (held.length > start) stream.unshift(held.subarray(start));
    createHttp2Server()
      .on('stream', serve)
      .on('sessionError', () => undefined)
      .emit('connection', stream);
  };
  stream.on('data', take);
}

test('requests over HTTP/2 to a tunnel that is lost: what can be repeated is answered by another', async () => {
  const { url, tunnel, reasons } = await shop();
  let asked = 0;
  const silent = (asking: ServerHttp2Stream): void => {
    asking.on('error', () => undefined);
    asked++;
  };
  const first = await tunnel((stream) => http2Over(stream, silent), 'http2');
  await tunnel((stream) => http2Over(stream, (asking) => void asking.end('ok')), 'http2');
  const methods = Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? 'POST' : 'GET'));
  const all = Promise.all(methods.map((method) => status(url, method)));
  await expect.poll(() => asked + reasons.length).toBe(40);
  expect(asked).toBeGreaterThan(0);
  first.socket.destroy();
  const statuses = await all;
  const lost = statuses.filter((each) => each !== 200).length;
  expect(methods.filter((method, index) => method === 'GET' && statuses[index] !== 200)).toEqual([]);
  expect(reasons.toSorted()).toEqual([
    ...Array(40 - lost).fill('upstream.answered'),
    ...Array(lost).fill('upstream.reset'),
  ]);
});

test('connections that wait are not started on a connection that is lost', async () => {
  const { url, tunnel, reasons } = await shop();
  const silent: StreamDuplex[] = [];
  const lost = await tunnel((stream) => void silent.push(stream.pause()));
  const all = Array.from({ length: 80 }, () => status(url, 'POST'));
  await expect.poll(() => silent.length).toBe(60);
  lost.socket.destroy();
  await Promise.all(all);
  // Nothing was sent of the others.
  expect(reasons.filter((code) => code === 'upstream.reset')).toHaveLength(60);
});

test('requests that agents carry may finish when the edge stops, while no further agents are accepted', async () => {
  const { url, tunnel, listening } = await shop();
  let asked: StreamDuplex | null = null;
  await tunnel((stream) => afterHead(stream, () => void (asked = stream)));
  const last = status(url);
  await expect.poll(() => asked !== null).toBe(true);
  const closing = listening.close(10_000);
  const port = listening.agentsPort!;
  const refused = new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve));
  expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
  asked!.write(OK);
  expect(await last).toBe(200);
  expect(await closing).toEqual({ cut: 0 });
});

test('at the end of the edge every agent gets a GOAWAY, and every request in flight one event', async () => {
  const { url, tunnel, reasons, listening } = await shop();
  let asked = 0;
  const silent = (stream: StreamDuplex): void => afterHead(stream, () => void asked++);
  const two = [await tunnel(silent), await tunnel(silent)];
  const all = Promise.all(Array.from({ length: 20 }, () => status(url)));
  await expect.poll(() => asked).toBe(20);
  await listening.close(0);
  const statuses = await all;
  expect(statuses.filter((each) => each === 200)).toEqual([]);
  await expect.poll(() => two.map(({ ended }) => ended())).toEqual(Array(2).fill(LEAVES));
  await expect.poll(() => reasons.length).toBe(20);
  expect(reasons).not.toContain('upstream.answered');
});

/** What the receiver of a GOAWAY ends its connection with. */
const LEAVES = 'the agent announced that it is leaving';

/** This file runs alone, as those with `--expose-gc`: with a large heap, collections would take most of the time. */
const MIB = IS_FULL ? 1_024 : 16;

test(`${MIB} MiB each way beside a stream that is not read: little is held at any time`, async () => {
  const { tunnel, agents } = await shop();
  const streams: StreamDuplex[] = [];
  const { id } = await tunnel((stream) => void streams.push(stream.pause()));
  const stuck = agents.openTunnel(id, 'tcp', null)!;
  const swift = agents.openTunnel(id, 'tcp', null)!;
  await expect.poll(() => streams.length).toBe(2);
  expect(stuck.write(Buffer.alloc(1_000_000))).toBe(false);
  const far = streams[1]!;
  afterHead(far, (bytes) => {
    if (!far.write(bytes)) far.pause().once('drain', () => far.resume());
  });
  const [total, chunk] = [MIB * 2 ** 20, Buffer.alloc(65_536)];
  const check = { sent: 0, received: 0 };
  let [sent, received, mostHeld] = [0, 0, 0];
  swift.on('data', (bytes: Buffer) => {
    received += bytes.length;
    check.received = crc32(bytes, check.received);
  });
  while (sent < total) {
    chunk.writeUInt32BE(sent / chunk.length, 0);
    check.sent = crc32(chunk, check.sent);
    sent += chunk.length;
    const mayGoOn = swift.write(Buffer.from(chunk));
    mostHeld = Math.max(mostHeld, sent - received);
    if (!mayGoOn) await new Promise((resolve) => swift.once('drain', resolve));
  }
  await expect.poll(() => received, { timeout: 30_000 }).toBe(total);
  expect(check.received).toBe(check.sent);
  // Two windows and the buffers of both ends, whatever the amount.
  expect(mostHeld).toBeLessThan(2 * 2 ** 20);
  expect(stuck.writableNeedDrain).toBe(true);
}, 300_000);
