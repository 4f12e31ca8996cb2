import { afterEach, expect, test } from 'vitest';
import { bodyOf } from '../../src/answers/body.ts';
import type { Body, Forwarded, UpstreamClient } from '../../src/answers/port.ts';
import { createUpstreamClient } from '../../src/answers/upstream.ts';
import type { UpstreamRequest } from '../../src/engine/contract.ts';
import { answering, hasHead, OK, recorder, type Recorder, splitRequests } from '../proxy/sockets.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function upstream(...given: Parameters<typeof recorder>): Promise<Recorder> {
  const made = await recorder(...given);
  closers.push(() => made.close());
  return made;
}

function clientFor(...given: Parameters<typeof createUpstreamClient>): UpstreamClient {
  const made = createUpstreamClient(...given);
  closers.push(() => made.close());
  return made;
}

const NONE = bodyOf(Buffer.alloc(0));

function request(port: number, given: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    leaf: { kind: 'static', id: 'app', host: '127.0.0.1', port, tls: false },
    method: 'GET',
    target: '/',
    headers: ['host', 'a'],
    body: null,
    upgrade: null,
    ...given,
  };
}

/** Forwards with nobody leaving, and reads the response to its end. */
async function whole(client: UpstreamClient, asked: UpstreamRequest, body: Body = NONE): Promise<Forwarded> {
  const forwarded = await client.forward(asked, body, new AbortController().signal);
  if ('body' in forwarded) {
    let part = await forwarded.body.pull();
    while (part.part === 'bytes') part = await forwarded.body.pull();
    if (part.part !== 'end') throw new Error(`the body ended by ${JSON.stringify(part)}`);
  }
  return forwarded;
}

test('framing and hop-by-hop fields are chosen here only, whatever the caller says', async () => {
  const up = await upstream(answering(OK));
  const headers = [
    'Host',
    'a',
    'X-Ok',
    '\xe9',
    'Connection',
    'close, x',
    'Transfer-Encoding',
    'gzip',
    'Content-Length',
    '99',
  ];
  headers.push(
    'Expect',
    '100-continue',
    'Keep-Alive',
    '9',
    'Upgrade',
    'x',
    'TE',
    'trailers',
    'Trailer',
    'y',
    'Proxy-Connection',
    'z',
  );
  const client = clientFor();
  await whole(client, request(up.port, { method: 'PUT', headers }), bodyOf(Buffer.from('abc')));
  expect(splitRequests(up.all()).requests).toEqual([
    {
      line: 'PUT / HTTP/1.1',
      head: 'PUT / HTTP/1.1\r\nhost: a\r\nconnection: keep-alive\r\nX-Ok: \xe9\r\ncontent-length: 3\r\n',
      body: 'abc',
    },
  ]);
});

test.each<[string, Partial<UpstreamRequest>]>([
  ['a field that would break out of its line', { headers: ['host', 'a', 'x', 'a\r\nb: c'] }],
  ['a name that is no token', { headers: ['host', 'a', 'x y', 'a'] }],
  ['a target that would break out of its line', { target: '/ HTTP/1.1\r\nx: y' }],
  ['a method that is no token', { method: 'GET /' }],
  ['two hosts', { headers: ['host', 'a', 'Host', 'b'] }],
])('%s is refused, not sent', async (_name, given) => {
  const up = await upstream(answering(OK));
  expect(
    await clientFor().forward(request(up.port, given), NONE, new AbortController().signal),
  ).toMatchObject({ failure: 'invalid' });
  expect(up.all()).toBe('');
});

test('concurrent requests have a connection each, which is kept; above the limit of unused ones it is closed', async () => {
  const up = await upstream();
  const client = clientFor({ idleConnections: 2 });
  const answers = Array.from({ length: 5 }, () => whole(client, request(up.port)));
  const wires = await Promise.all(Array.from({ length: 5 }, () => up.next()));
  for (const one of wires) await one.until(hasHead);
  for (const one of wires) one.send(OK);
  expect((await Promise.all(answers)).map((one) => 'reused' in one && one.reused)).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
  // Three of the five are not needed any more.
  let closed = 0;
  await new Promise<void>((resolve) => {
    for (const one of wires) void one.closed.then(() => ++closed === 3 && resolve());
  });
  const again = whole(client, request(up.port));
  const kept = wires.filter((one) => !one.socket.destroyed);
  await Promise.any(kept.map((one) => one.until((got) => splitRequests(got).requests.length === 2)));
  for (const one of kept) if (splitRequests(one.got()).requests.length === 2) one.send(OK);
  expect(await again).toMatchObject({ reused: true });
});

test('a client that has left already costs no connection', async () => {
  const up = await upstream(answering(OK));
  const left = AbortSignal.abort();
  expect(await clientFor().forward(request(up.port), NONE, left)).toEqual({
    failure: 'cancelled',
    detail: 'the client left',
  });
  expect(up.wires.length).toBe(0);
});

test('closing ends what is under way', async () => {
  const up = await upstream();
  const client = clientFor();
  const answer = client.forward(request(up.port), NONE, new AbortController().signal);
  await (await up.next()).until(hasHead);
  await client.close();
  expect(await answer).toMatchObject({ failure: 'reset' });
});

test('IPv6 addresses are dialled with and without brackets', async () => {
  const up = await upstream(answering(OK));
  const leaf = request(up.port).leaf;
  for (const host of ['[::ffff:127.0.0.1]', '::ffff:127.0.0.1']) {
    expect(await whole(clientFor(), request(up.port, { leaf: { ...leaf, host } }))).toMatchObject({
      head: { status: 200 },
    });
  }
});
