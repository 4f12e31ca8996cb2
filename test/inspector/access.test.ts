import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { application, edgeTo, inspected, plain } from './inspected.ts';

async function opened() {
  const { address } = await application(() => ({ body: 'ok' }));
  const own = await inspected(edgeTo(address));
  const host = `127.0.0.1:${own.port}`;
  const bearer = ['authorization', `Bearer ${own.token}`];
  const get = (path: string, headers: readonly string[], method = 'GET') =>
    plain(own.port, path, { method, headers });
  return { ...own, host, bearer, get };
}

const DATA = ['/api/hello', '/api/feed', '/api/exchanges/1', '/api/files', '/api/overview', '/api/revisions'];

test('without the token no data is answered, and the page says what to do', async () => {
  const { get, host, token } = await opened();
  const wrong = [
    [],
    ['authorization', 'Bearer '],
    ['authorization', `Bearer ${token}x`],
    ['authorization', `Bearer ${token.slice(1)}`],
    ['authorization', `Basic ${token}`],
    ['cookie', `token=${token}`],
  ];
  for (const path of DATA) {
    for (const headers of wrong) {
      const { status, text } = await get(path, ['host', host, ...headers]);
      expect(status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({ error: 'unauthorized' });
    }
  }
  // A token in the URL would be in logs and in `Referer`.
  expect((await get(`/api/hello?token=${token}`, ['host', host])).status).toBe(401);
});

test('a target that is not a path is refused', async () => {
  const { get, host, bearer } = await opened();
  for (const path of ['//', '/\\', '//['])
    expect((await get(path, ['host', host, ...bearer])).status).toBe(400);
});

test('another name for this address is refused, also with the token (DNS rebinding)', async () => {
  const { get, bearer, port } = await opened();
  const hosts = [
    'evil.test',
    `evil.test:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1.evil.test:${port}`,
    `localhost.:${port}`,
    `[::1]:${port}`,
    `127.0.0.1:${port}@evil.test`,
    '',
  ];
  for (const host of hosts) {
    for (const path of ['/', ...DATA]) expect((await get(path, ['host', host, ...bearer])).status).toBe(421);
  }
  expect((await get('/api/hello', ['host', `localhost:${port}`, ...bearer])).status).toBe(200);
});

test('a page of another origin is refused, also with the token', async () => {
  const { get, bearer, host } = await opened();
  for (const origin of [
    'http://evil.test',
    'null',
    `https://${host}`,
    `http://${host}.evil.test`,
    `http://localhost:${host.slice(10)}`,
  ])
    expect((await get('/api/hello', ['host', host, ...bearer, 'origin', origin])).status).toBe(403);
  // Nor may it change anything: what was kept is there, and nothing was sent again.
  for (const path of ['/api/clear', '/api/exchanges/1/resend', '/api/draft']) {
    const foreign = [
      'host',
      host,
      ...bearer,
      'origin',
      'http://evil.test',
      'content-type',
      'application/json',
    ];
    expect((await get(path, foreign, 'POST')).status).toBe(403);
  }
  for (const site of ['cross-site', 'same-site', 'none'])
    expect((await get('/api/hello', ['host', host, ...bearer, 'sec-fetch-site', site])).status).toBe(403);
  const own = ['origin', `http://${host}`, 'sec-fetch-site', 'same-origin'];
  const { status, headers } = await get('/api/hello', ['host', host, ...bearer, ...own]);
  expect(status).toBe(200);
  expect(headers['access-control-allow-origin']).toBeUndefined();
});

test('every answer has the policy of the page, and none is kept or framed', async () => {
  const { get, bearer, host } = await opened();
  for (const path of ['/', '/api/hello', '/nothing', '/api/nothing']) {
    const { headers } = await get(path, ['host', host, ...bearer]);
    expect(headers['content-security-policy']).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
  }
  const { headers } = await get('/', ['host', host]);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  });
});

test('only GET has no effect: what changes something needs its method and a JSON body', async () => {
  const { get, bearer, host, api, port, token } = await opened();
  for (const path of ['/api/clear', '/api/search', '/api/exchanges/1/resend', '/api/exchanges/1/pin'])
    expect((await get(path, ['host', host, ...bearer])).status).toBe(405);
  expect((await get('/api/hello', ['host', host, ...bearer], 'DELETE')).status).toBe(405);
  expect((await get('/', ['host', host], 'POST')).status).toBe(405);
  const form = await plain(port, '/api/clear', {
    method: 'POST',
    headers: [
      'host',
      host,
      'authorization',
      `Bearer ${token}`,
      'content-type',
      'text/plain',
      'content-length',
      '2',
    ],
    body: '{}',
  });
  expect(form.status).toBe(415);
  expect((await api('POST', '/api/search', [1])).status).toBe(200);
  for (const [path, body] of [
    ['/api/search', { text: 1 }],
    ['/api/search', { limit: -1 }],
    ['/api/filter', {}],
    ['/api/exchanges/x/pin', { pinned: true }],
  ] as const)
    expect((await api('POST', path, body)).status).toBe(400);
  expect((await api('GET', '/api/exchanges/99')).value).toMatchObject({ error: 'not_kept' });
  expect((await api('GET', '/api/../etc/passwd')).status).toBe(404);
});

test('a body that is too large is refused, and garbage ends only its connection', async () => {
  const { ok, port, host, token } = await opened();
  const large = await plain(port, '/api/search', {
    method: 'POST',
    headers: [
      'host',
      host,
      'authorization',
      `Bearer ${token}`,
      'content-type',
      'application/json',
      'transfer-encoding',
      'chunked',
    ],
    body: `{"text":"${'x'.repeat(9_000_000)}"}`,
  }).catch((error: NodeJS.ErrnoException) => ({ status: error.code }));
  // The rest of the body is not read: the answer may be lost with the connection.
  expect([413, 'ECONNRESET', 'EPIPE']).toContain(large.status);
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('\x16\x03\x01 not HTTP\r\n\r\n'));
    socket
      .on('error', () => undefined)
      .resume()
      .once('close', () => resolve());
  });
  expect(await ok('GET', '/api/hello')).toMatchObject({ verb: 'dev' });
});

test('a restriction of addresses applies to the page and the data, and one that cannot be read refuses', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const answers: (boolean | Error)[] = [false, false, new Error('locked'), true];
  const { api, port } = await inspected(edgeTo(address), {
    allows: async () => {
      const next = answers.shift() ?? true;
      if (next instanceof Error) throw next;
      return next;
    },
  });
  expect((await plain(port, '/', { headers: ['host', `127.0.0.1:${port}`] })).status).toBe(403);
  expect((await api('GET', '/api/hello')).status).toBe(403);
  expect((await api('GET', '/api/hello')).status).toBe(503);
  expect((await api('GET', '/api/hello')).status).toBe(200);
});
