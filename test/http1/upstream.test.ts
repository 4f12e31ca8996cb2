import { expect, test } from 'vitest';
import { closing, upstream } from './per_test.ts';
import { createAddresses } from '../../src/io/addresses.ts';
import { bodyOf, NO_BODY } from '../../src/io/buffered_body.ts';
import type { Body, Forwarded, UpstreamClient } from '../../src/io/ports.ts';
import { createUpstreamClient } from '../../src/http1/upstream_client.ts';
import type { UpstreamRequest } from '../../src/engine/questions.ts';
import { drink, forwarded } from '../io/forwarded.ts';
import { settled } from '../io/settled.ts';
import { answering, hasHead, OK, splitRequests } from './sockets.ts';

function clientFor(...given: Parameters<typeof createUpstreamClient>): UpstreamClient {
  return closing(createUpstreamClient(...given));
}

function request(port: number, given: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    endpoint: { kind: 'static', id: 'app', host: '127.0.0.1', port, tls: false },
    method: 'GET',
    target: '/',
    headers: ['host', 'a'],
    body: null,
    upgrade: null,
    ...given,
  };
}

const USUAL = { expectsContinue: false, takesTrailers: false };

/** Forwards, and reads the response to its end. */
async function whole(
  client: UpstreamClient,
  asked: UpstreamRequest,
  body: Body = NO_BODY,
): Promise<Forwarded> {
  const answer = await forwarded(client, asked, body).came;
  if ('body' in answer) {
    const { last } = await drink(answer.body);
    if (last !== 'end') throw new Error(`the body ended by ${JSON.stringify(last)}`);
  }
  return answer;
}

test('framing and hop-by-hop fields are only set here, whatever the caller passes', async () => {
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
      head: 'PUT / HTTP/1.1\r\nHost: a\r\nX-Ok: \xe9\r\nconnection: keep-alive\r\ncontent-length: 3\r\n',
      body: 'abc',
    },
  ]);
});

test.each<[string, Partial<UpstreamRequest>]>([
  ['a field that would break out of its line', { headers: ['host', 'a', 'x', 'a\r\nb: c'] }],
  ['a name that is not a token', { headers: ['host', 'a', 'x y', 'a'] }],
  ['a target that would break out of its line', { target: '/ HTTP/1.1\r\nx: y' }],
  ['a method that is not a token', { method: 'GET /' }],
  ['two hosts', { headers: ['host', 'a', 'Host', 'b'] }],
])('%s is refused, not sent', async (_name, given) => {
  const up = await upstream(answering(OK));
  expect(await forwarded(clientFor(), request(up.port, given)).came).toMatchObject({ failure: 'invalid' });
  expect(up.all()).toBe('');
});

test('concurrent requests use one connection each, which is kept; above the limit of idle ones it is closed', async () => {
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
  // Three of the five are no longer needed.
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

test('a request cancelled in any phase frees its connection, and makes no further calls', async () => {
  const up = await upstream();
  const client = clientFor();
  for (const bytes of ['', 'HTTP/1.1 200', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc']) {
    let said = 0;
    const count = (): boolean => ++said > 0;
    const forwarding = client.forward(request(up.port), NO_BODY, USUAL, {
      interim: count,
      answered: (_head, _reused, body) =>
        body.flow({ take: count, rest: () => true, end: count, fail: count }),
      switched: count,
      failed: count,
    });
    const there = await up.next();
    await there.until(hasHead);
    there.send(bytes);
    const before = await settled(() => said);
    forwarding.cancel();
    await there.closed;
    forwarding.cancel();
    expect(said).toBe(before);
  }
});

test('closing ends requests in flight', async () => {
  const up = await upstream();
  const client = clientFor();
  const { came } = forwarded(client, request(up.port));
  await (await up.next()).until(hasHead);
  await client.close();
  expect(await came).toMatchObject({ failure: 'reset' });
});

test('an idle connection is closed when its time is over, or a second before the upstream’s timeout', async () => {
  for (const [limits, answer] of [
    [{ idleConnectionMs: 50 }, OK],
    [{}, 'HTTP/1.1 200 OK\r\nkeep-alive: max=5, timeout=1\r\ncontent-length: 2\r\n\r\nok'],
    [{}, 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'],
    [{}, 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
  ] as const) {
    const up = await upstream(answering(answer));
    await whole(clientFor(limits), request(up.port));
    await up.wires[0]!.closed;
  }
});

test('of several addresses the next is tried when one does not respond, and they rotate', async () => {
  const up = await upstream(answering(OK));
  const asked: string[] = [];
  // The second address has no listener.
  const addresses = ['127.0.0.1', '127.0.0.77'].map((address) => ({ address, family: 4 }));
  const lookup = createAddresses({
    addresses: (host) => {
      asked.push(host);
      return Promise.resolve(addresses);
    },
    lifetimeMs: () => Promise.resolve(null),
  });
  const endpoint = { ...request(up.port).endpoint, host: 'app.test' };
  for (let count = 0; count < 4; count++) {
    const client = clientFor({ lookup });
    expect(await whole(client, request(up.port, { endpoint }))).toMatchObject({ head: { status: 200 } });
  }
  expect(asked).toEqual(['app.test']);
});

test('IPv6 addresses are dialled with and without brackets', async () => {
  const up = await upstream(answering(OK));
  const endpoint = request(up.port).endpoint;
  for (const host of ['[::ffff:127.0.0.1]', '::ffff:127.0.0.1']) {
    expect(await whole(clientFor(), request(up.port, { endpoint: { ...endpoint, host } }))).toMatchObject({
      head: { status: 200 },
    });
  }
});
