import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

/** Requests as bytes, which no client library would send. */

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance({ bodyLimitBytes: 1_000 });
});
afterAll(() => instance.close());

/** What the API answers to bytes until it closes the connection, or until the end of one answer. */
async function answerTo(text: string, isHalf = false): Promise<string> {
  const socket = connect(Number(new URL(instance.url).port), '127.0.0.1');
  socket.write(text);
  if (isHalf) {
    await once(socket, 'connect');
    socket.destroy();
    return '';
  }
  let answer = '';
  for await (const part of socket) {
    answer += String(part);
    if (answer.endsWith('}')) break;
  }
  return answer;
}

const fields = (more = ''): string =>
  `authorization: Bearer ${instance.key}\r\nservice-version: 2\r\ncontent-type: application/json\r\n${more}\r\n`;

it.each([
  ['a path in the host', 'GET /vaults HTTP/1.1\r\nhost: a/b?x=\r\n'],
  ['user info in the host', 'GET /vaults HTTP/1.1\r\nhost: user@a.test\r\n'],
  ['an asterisk as the target', 'OPTIONS * HTTP/1.1\r\nhost: a.test\r\n'],
  ['an absolute target without a host', 'GET http:// HTTP/1.1\r\nhost: a.test\r\n'],
])('%s is refused with a sentence', async (_name, head) => {
  const answer = await answerTo(head + fields());
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('The host or the target of the request is invalid.');
});

it.each([
  [
    'with headers that are too large',
    `GET /vaults HTTP/1.1\r\nhost: a.test\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    431,
  ],
  [
    'with two lengths',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    400,
  ],
  ['that is not HTTP', 'NONSENSE\r\n\r\n', 400],
  ['that is TLS', '\x16\x03\x01\x00\xa5\x01\x00', 400],
  ['without a host', 'GET /vaults HTTP/1.1\r\n\r\n', 400],
] as const)(
  'a request %s gets an error like any other, and the next one is answered',
  async (_name, text, status) => {
    const answer = await answerTo(text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const { status_code: said, msg, details } = JSON.parse(body);
    expect([said, msg]).toEqual([status, expect.stringMatching(/\.$/)]);
    expect(head).toContain(`service-operation-id: ${details.operation_id}`);
    expect((await instance.call('GET', '/vaults')).status).toBe(200);
  },
);

it.each([
  ['two hosts', 400, 'GET /vaults HTTP/1.1\r\nhost: a.test\r\nhost: b.test\r\n', 'several fields Host'],
  [
    'two authorizations',
    400,
    'GET /vaults HTTP/1.1\r\nhost: a.test\r\nAuthorization: Bearer x\r\n',
    'several fields Host or Authorization',
  ],
  ['an unknown expectation', 417, 'GET /vaults HTTP/1.1\r\nhost: a.test\r\nexpect: x\r\n', '100-continue'],
])('%s: %d', async (_, status, head, message) => {
  const answer = await answerTo(head + fields());
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  const { status_code: said, msg } = JSON.parse(answer.split('\r\n\r\n')[1]!);
  expect([said, msg]).toEqual([status, expect.stringContaining(message)]);
});

it('an absolute target names the host of uris', async () => {
  const answer = await answerTo(`GET http://api.test/vaults HTTP/1.1\r\nhost: other.test\r\n${fields()}`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('"uri":"http://api.test/vaults"');
});

it('a body that grows beyond the limit is answered while it is sent', async () => {
  const chunk = `${(600).toString(16)}\r\n${'x'.repeat(600)}\r\n`;
  const head = 'POST /vaults HTTP/1.1\r\nhost: a.test\r\n';
  const answer = await answerTo(`${head}${fields('transfer-encoding: chunked\r\n')}${chunk}${chunk}`);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

it('a client that leaves in the middle of its body disturbs no other', async () => {
  const head = 'POST /vaults HTTP/1.1\r\nhost: a.test\r\n';
  await Promise.all(
    Array.from({ length: 10 }, () => answerTo(`${head}${fields('content-length: 500\r\n')}{"name":`, true)),
  );
  expect((await instance.call('POST', '/vaults', { name: 'after' })).status).toBe(201);
});

it.each([
  ['1e20', "The field 'backends.x' has to be at most 10000."],
  ['-1e20', "The field 'backends.x' has to be at least 0."],
  ['1e400', "The field 'backends.x' is too large a number."],
  ['null', "The field 'backends.x' has to be a number, not null."],
])('the weight %s is refused with what weights are', async (weight, message) => {
  const body = `{"backends":{"x":${weight}}}`;
  const head = 'POST /backends/weighted HTTP/1.1\r\nhost: a.test\r\n';
  const answer = await answerTo(head + fields(`content-length: ${body.length}\r\n`) + body);
  expect(answer).toContain(message);
  expect(answer).toContain('"details":{"pointer":"/backends/x","operation_id"');
});

it.each([
  ['a deleted bot', '/vaults', (bot: string) => instance.call('DELETE', `/bot_users/${bot}`)],
  [
    'a deleted bot, for a new key',
    '/api_keys',
    (bot: string) => instance.call('DELETE', `/bot_users/${bot}`),
  ],
  [
    'a deactivated bot',
    '/vaults',
    (bot: string) => instance.call('PATCH', `/bot_users/${bot}`, { active: false }),
  ],
  ['a revoked key', '/vaults', (_bot: string, key: string) => instance.call('DELETE', `/api_keys/${key}`)],
])('a body that arrives after its key has become invalid, of %s, changes nothing', async (_, path, end) => {
  const bot = await instance.make('/bot_users', {});
  const key = await instance.make('/api_keys', { owner_id: bot.id });
  const body = JSON.stringify(path === '/vaults' ? { name: `late-${bot.id}` } : {});
  const socket = connect(Number(new URL(instance.url).port), '127.0.0.1');
  const head = `POST ${path} HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\nexpect: 100-continue\r\n`;
  socket.write(`${head}${fields(`content-length: ${body.length}\r\n`).replace(instance.key, key.token)}`);
  // The request is being handled once it may continue.
  await once(socket, 'data');
  expect((await end(bot.id, key.id)).status).toBeLessThan(300);
  socket.write(body);
  let answer = '';
  for await (const part of socket) answer += String(part);
  expect(answer).toMatch(/^HTTP\/1\.1 403 .*"error_code":"ERR_SERVICE_203"/s);
  const { vaults } = (await instance.call('GET', '/vaults')).body;
  expect(JSON.stringify(vaults)).not.toContain(bot.id);
});
