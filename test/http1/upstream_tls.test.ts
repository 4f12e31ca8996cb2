import { createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUpstreamClient, type UpstreamLimits } from '../../src/http1/upstream_client.ts';
import type { Forwarded } from '../../src/io/ports.ts';
import { drink, forwarded } from '../io/forwarded.ts';
import { LOCALHOST } from '../io/localhost.ts';

const seen: { servername: unknown; alpn: unknown; bytes: string }[] = [];
const server = createServer({ ...LOCALHOST, ALPNProtocols: ['h2', 'http/1.1'] }, (socket: TLSSocket) => {
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    seen.push({ servername: socket.servername, alpn: socket.alpnProtocol, bytes: bytes.toString('latin1') });
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
  });
});
server.on('tlsClientError', () => undefined);
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

async function forward(
  host: string,
  authority: string,
  limits: Partial<UpstreamLimits>,
  times = 1,
): Promise<Forwarded[]> {
  const upstream = createUpstreamClient(limits);
  const answers: Forwarded[] = [];
  for (let count = 0; count < times; count++) {
    const answer = await forwarded(upstream, {
      endpoint: { kind: 'static', id: 'app', host, port, tls: true },
      method: 'GET',
      target: '/',
      headers: ['host', authority],
      body: null,
      upgrade: null,
    }).came;
    answers.push(answer);
    if ('body' in answer) await drink(answer.body);
  }
  await upstream.close();
  return answers;
}

test('an untrusted certificate is a connect failure', async () => {
  const [answer] = await forward('localhost', 'shop.test', {});
  expect(answer).toMatchObject({
    failure: 'connect',
    detail: expect.stringMatching(/self.signed/) as string,
  });
});

test('a trusted one is checked against the backend’s name, whatever Host is, and the connection kept', async () => {
  seen.length = 0;
  const answers = await forward('localhost', 'shop.test', { ca: [LOCALHOST.cert] }, 2);
  expect(answers).toMatchObject([
    { head: { status: 200 }, reused: false },
    { head: { status: 200 }, reused: true },
  ]);
  expect(seen[0]).toMatchObject({ servername: 'localhost', alpn: 'http/1.1' });
  expect(seen[0]!.bytes).toContain('host: shop.test\r\n');
});

test('one for another name is refused, unless verification is off', async () => {
  expect(await forward('127.0.0.1', 'localhost', { ca: [LOCALHOST.cert] })).toMatchObject([
    { failure: 'connect' },
  ]);
  expect(await forward('127.0.0.1', 'localhost', { verifyTls: false })).toMatchObject([
    { head: { status: 200 } },
  ]);
});
