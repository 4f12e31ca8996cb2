import { expect, test } from 'vitest';
import { edgeFor, upstream } from './per_test.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

import { answering, dial, hasHead, OK, splitRequests, statusOf } from './sockets.ts';
import { forwarding, replying, text } from './test_exchange_port.ts';

const ASK =
  'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: x\r\n\r\n';
const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: y\r\n\r\n';

test('an upgrade passes both ways, byte for byte, with half-close', async () => {
  const up = await upstream();
  const edge = await edgeFor(forwarding(up.port));
  const client = await dial(edge.port, { allowHalfOpen: true });
  client.send(`${ASK}early`);
  const there = await up.next();
  await there.until(hasHead);
  expect(there.got()).toMatch(/\r\nconnection: upgrade\r\nupgrade: websocket\r\n/);
  expect(there.got()).toMatch(/Sec-WebSocket-Key: x\r\n/);
  there.send(`${SWITCH}hello`);
  await client.until((got) => got.endsWith('\r\n\r\nhello'));
  expect(client.got()).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(client.got()).toMatch(/\r\nupgrade: websocket\r\n/);
  expect(client.got()).toMatch(/\r\nSec-WebSocket-Accept: y\r\n/);
  await there.until((got) => got.endsWith('early'));
  client.send('\0\x01\xff bytes');
  await there.until((got) => got.endsWith('early\0\x01\xff bytes'));
  client.socket.end('last');
  await there.until((got) => got.endsWith('last'));
  await there.ended;
  await client.closed;
  await edge.arrived(1);
  expect(edge.traces[0]!.sent).toEqual({
    requestBytes: 18,
    responseBytes: 5,
    rawResponseBytes: 5,
    cut: 'none',
  });
});

test('half-close: the upstream may continue after the client has ended', async () => {
  const up = await upstream();
  const edge = await edgeFor(forwarding(up.port));
  const client = await dial(edge.port, { allowHalfOpen: true });
  client.send(ASK);
  const there = await up.next();
  there.socket.removeAllListeners('end');
  await there.until(hasHead);
  there.send(SWITCH);
  await client.until(hasHead);
  client.socket.end('question');
  await there.until((got) => got.endsWith('question'));
  there.socket.end('the answer');
  await client.until((got) => got.endsWith('the answer'));
  await edge.arrived(1);
  expect(edge.traces[0]!.sent).toMatchObject({ requestBytes: 8, responseBytes: 10, cut: 'none' });
});

test.each(['h2c', 'other', 'websocket, h2c'])(
  'an upstream cannot switch to %s, which was not requested',
  async (protocol) => {
    const up = await upstream();
    const edge = await edgeFor(forwarding(up.port));
    const client = await dial(edge.port);
    client.send(ASK);
    const there = await up.next();
    await there.until(hasHead);
    there.send(`${SWITCH.replace('websocket', protocol)}hello`);
    await client.closed;
    expect(statusOf(client.got())).toBe(502);
    expect(client.got()).not.toContain('hello');
    await there.ended;
    expect(edge.traces[0]!.forwards).toMatchObject([{ failure: 'invalid' }]);
  },
);

test('the name of a protocol has no letter case', async () => {
  const up = await upstream();
  const edge = await edgeFor(forwarding(up.port));
  const client = await dial(edge.port);
  client.send(ASK);
  const there = await up.next();
  await there.until(hasHead);
  there.send(`${SWITCH.replace('websocket', 'WebSocket')}hello`);
  await client.until((got) => got.endsWith('\r\n\r\nhello'));
  client.socket.destroy();
});

test('a refusal of the engine is sent as HTTP, and no upstream is dialled', async () => {
  const edge = await edgeFor(replying(text(403, 'no')));
  const client = await dial(edge.port);
  client.send(ASK);
  await client.closed;
  expect(client.got()).toMatch(/^HTTP\/1\.1 403 [\s\S]*connection: close[\s\S]*no$/i);
  expect(edge.traces).toMatchObject([{ completions: 1, sent: { responseBytes: 2, cut: 'none' } }]);
});

test('a declining response of the upstream is passed on as HTTP', async () => {
  const up = await upstream(answering('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 4\r\n\r\nnope'));
  const edge = await edgeFor(forwarding(up.port));
  const client = await dial(edge.port);
  client.send(ASK);
  await client.closed;
  expect(client.got()).toMatch(/^HTTP\/1\.1 426 [\s\S]*nope$/);
  expect(edge.traces[0]!.sent).toMatchObject({ responseBytes: 4, cut: 'none' });
});

test.each([
  [
    'h2c',
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: A\r\n\r\n',
  ],
  [
    'content',
    'POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi',
  ],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['no Connection', 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n'],
])('an upgrade with %s is served as a normal request', async (name, request) => {
  const up = await upstream(answering(OK));
  const edge = await edgeFor(forwarding(up.port));
  const client = await dial(edge.port);
  client.send(request);
  await client.until((got) => got.endsWith('ok'));
  expect(up.all()).not.toMatch(/upgrade/i);
  if (name === 'HTTP/1.0') return;
  client.send('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.until((got) => got.split('\r\n\r\nok').length === 3);
  expect(splitRequests(up.all()).requests.map((one) => one.line)).toEqual([
    request.slice(0, request.indexOf('\r\n')),
    'GET /next HTTP/1.1',
  ]);
});

test('clients and upstreams that leave, before and after the switch, free the other side', async () => {
  const up = await upstream();
  const edge = await edgeFor(forwarding(up.port));
  const waiting = await dial(edge.port);
  waiting.send(ASK);
  const first = await up.next();
  await first.until(hasHead);
  waiting.socket.end();
  await first.closed;
  await edge.arrived(1);
  expect(edge.traces[0]).toMatchObject({
    completions: 1,
    forwards: [{ failure: 'cancelled' }],
    sent: { cut: 'client' },
  });

  for (const [index, side] of ['client', 'upstream'].entries()) {
    const client = await dial(edge.port);
    client.send(ASK);
    const there = await up.next();
    await there.until(hasHead);
    there.send(SWITCH);
    await client.until(hasHead);
    if (side === 'client') client.socket.resetAndDestroy();
    else there.socket.resetAndDestroy();
    await Promise.all([client.closed, there.closed]);
    await edge.arrived(index + 2);
    expect(edge.traces[index + 1]).toMatchObject({ completions: 1, sent: { cut: side } });
  }
});

test('a silent tunnel ends in time, and a drain cuts it at the deadline', async () => {
  const up = await upstream((one) => void (hasHead(one.got()) && one.send(SWITCH)));
  const edge = await edgeFor(forwarding(up.port), { tunnelIdleMs: 200 });
  const client = await dial(edge.port);
  client.send(ASK);
  await client.until(hasHead);
  await client.closed;
  await edge.arrived(1);
  expect(edge.traces[0]!.completions).toBe(1);

  const other = await edgeFor(forwarding(up.port));
  const late = await dial(other.port);
  late.send(ASK);
  await late.until(hasHead);
  expect(await other.close(100)).toEqual({ cut: 1 });
  await late.closed;
  expect(other.traces[0]!.completions).toBe(1);
});

test('CONNECT is also refused after a request in flight', async () => {
  const up = await upstream();
  const edge = await edgeFor(forwarding(up.port));
  const client = await dial(edge.port);
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\nCONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\nbytes');
  const there = await up.next();
  await there.until(hasHead);
  there.send(OK);
  await client.closed;
  expect(client.got().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 405']);
  expect(statusOf(client.got())).toBe(200);
  expect(edge.traces.map((trace) => trace.completions)).toEqual([1, 1]);
});

test('real WebSockets: a thousand messages each way, in order', async () => {
  const app = createServer();
  const sockets = new WebSocketServer({ server: app });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  await new Promise<void>((resolve) => void app.listen(0, '127.0.0.1', resolve));
  const edge = await edgeFor(forwarding((app.address() as AddressInfo).port));
  const client = new WebSocket(`ws://127.0.0.1:${edge.port}/chat`);
  const seen: string[] = [];
  const done = new Promise<void>((resolve) => {
    client.on('message', (data: Buffer) => {
      seen.push(data.toString());
      if (seen.length === 1_000) resolve();
    });
  });
  client.on('open', () => {
    for (let index = 0; index < 1_000; index++) client.send(`${index} ${'x'.repeat(index)}`);
  });
  await done;
  expect(seen.map((message) => Number.parseInt(message, 10))).toEqual(
    Array.from({ length: 1_000 }, (_none, index) => index),
  );
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.close(1000);
  await closed;
  await edge.arrived(1);
  expect(edge.traces[0]).toMatchObject({ completions: 1, status: 101, sent: { cut: 'none' } });
  sockets.close();
  app.close();
});
