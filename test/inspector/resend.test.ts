import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { ExchangeRow, ResendAnswer, SearchAnswer } from '../../src/inspector/wire.ts';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { secure } from '../server/tls/client.ts';
import { application, edgeTo, type Inspected, inspected } from './inspected.ts';

/** Sends the latest exchange again. */
async function sentAgain({ ok }: Inspected, edit?: object): Promise<ResendAnswer> {
  return ok<ResendAnswer>(
    'POST',
    `/api/exchanges/${(await latest({ ok })).seq}/resend`,
    edit === undefined ? {} : { edit },
  );
}

async function latest({ ok }: Pick<Inspected, 'ok'>): Promise<ExchangeRow> {
  return (await ok<SearchAnswer>('POST', '/api/search', {})).rows[0] as ExchangeRow;
}

test('a request is sent again through the listener, with real secrets that the page never saw', async () => {
  const seen: string[] = [];
  const { address } = await application(({ method, url, headers }, body) => {
    seen.push([method, url, headers.authorization, headers['x-note'], body].join(' '));
    return { body: 'ok' };
  });
  const { send, ok, api } = await inspected(edgeTo(address));
  const headers = ['host', 'app.test', 'authorization', 'Bearer real-secret', 'x-note', 'one'];
  await send('/pay', { method: 'POST', headers: [...headers, 'content-length', '4'], body: 'body' });
  const [first] = (await ok<SearchAnswer>('POST', '/api/search', {})).rows as ExchangeRow[];
  const path = `/api/exchanges/${first!.seq}/resend`;
  const again = await ok<ResendAnswer>('POST', path, {});
  expect(again.status).toBe(200);
  const { exchange } = await ok<ExchangeDetail>('GET', `/api/exchanges/${first!.seq}`);
  const edited = exchange.request.headers.map((value) => (value === 'one' ? 'two' : value));
  expect(edited.join(' ')).not.toContain('real-secret');
  const edit = { method: 'PUT', target: '/other', headers: edited, body: { text: 'new' } };
  const second = await ok<ResendAnswer>('POST', path, { edit });
  expect(seen).toEqual([
    'POST /pay Bearer real-secret one body',
    'POST /pay Bearer real-secret one body',
    'PUT /other Bearer real-secret two new',
  ]);
  const { row } = await ok<ExchangeDetail>('GET', `/api/exchanges/${second.seq}`);
  expect(row).toMatchObject({ resentFrom: first!.seq, target: '/other', method: 'PUT' });
  for (const wrong of [
    { method: 'A B' },
    { target: 'no-slash' },
    { headers: ['a'] },
    { headers: ['a', 'b\r\nc: d'] },
    { headers: ['a b', 'c'] },
  ])
    expect((await api('POST', path, { edit: wrong })).status).toBe(400);
});

test('fields keep their spelling, order and repetitions; those of the old connection are named', async () => {
  const seen: string[][] = [];
  const { address } = await application(({ rawHeaders }) => {
    seen.push(rawHeaders);
    return { body: 'ok' };
  });
  const edge = await inspected(edgeTo(address));
  const fields = ['X-Two', 'b', 'hOsT', 'app.test', 'x-one', '1', 'x-Two', 'a\u00fc', 'Accept', '*/*'];
  await edge.send('/', {
    headers: [...fields, 'Proxy-Authorization', 'Basic YQ==', 'TE', 'trailers', 'Connection', 'TE'],
  });
  const { status, seq, notes } = await sentAgain(edge);
  expect(status).toBe(200);
  expect(notes).toEqual([
    'the client is this machine',
    'fields of the old connection are not sent: Proxy-Authorization',
  ]);
  expect(seen[1]).toEqual(seen[0]);
  const { exchange } = await edge.ok<ExchangeDetail>('GET', `/api/exchanges/${seq}`);
  expect(exchange.request.headers.slice(0, fields.length)).toEqual(fields);
  const twoHosts = await edge.api('POST', `/api/exchanges/${seq}/resend`, {
    edit: { headers: ['host', 'app.test', 'host', 'other.test'] },
  });
  expect(twoHosts).toMatchObject({
    status: 400,
    value: { message: expect.stringContaining('one Host') as string },
  });
});

test('over TLS it has the server name of its Host, unless that is an address', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const authority = testAuthority('inspected');
  const pair = authority.issue('app.test', SERVER('app.test'));
  const tls_certificates = { app: { certificate_pem: pair.cert, private_key_pem: pair.key } };
  const edge = await inspected(edgeTo(address, {}, { tls_certificates }), {}, {}, { tls: {} });
  const port = edge.listening.tlsPort!;
  const socket = await secure({ port, servername: 'app.test', ca: authority.cert });
  socket.write('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  const first = await sentAgain(edge);
  expect(first.status).toBe(200);
  const { exchange, row } = await edge.ok<ExchangeDetail>('GET', `/api/exchanges/${first.seq}`);
  expect(row).toMatchObject({ resentFrom: 1 });
  expect(exchange.request.scheme).toBe('https');
  // Without a server name the edge has no certificate to show.
  const unnamed = await sentAgain(edge, { headers: ['host', '127.0.0.1:443'] });
  expect(unnamed).toMatchObject({ status: 0, seq: null });
});

test('a stream without end is answered when it has begun; a long answer is read up to the limit', async () => {
  const piece = Buffer.alloc(1_048_576);
  /** Pieces of each long answer, when its connection has ended. */
  const written: Promise<number>[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/stream') return void response.write('data: 1\n\n');
    let pieces = 0;
    const more = (): void => {
      for (let goesOn = true; goesOn && !response.destroyed; pieces++) goesOn = response.write(piece);
    };
    response.on('drain', more);
    written.push(once(response, 'close').then(() => pieces));
    more();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const edge = await inspected(edgeTo(`127.0.0.1:${(server.address() as AddressInfo).port}`));
  for (const path of ['/stream', '/long']) {
    const socket = connect(edge.listening.port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    const { status, seq } = await sentAgain(edge);
    const { row } = await edge.ok<ExchangeDetail>('GET', `/api/exchanges/${seq}`);
    expect([status, row]).toMatchObject([200, { target: path, resentFrom: expect.any(Number) as number }]);
  }
  expect(await written[1]).toBeLessThan(64);
});

test('the request of a WebSocket is sent again as one, and its connection ends with the answer', async () => {
  const { address, server } = await application(() => ({ body: '' }));
  const sockets = new WebSocketServer({ server });
  const closed: number[] = [];
  sockets.on('connection', (socket) => socket.on('close', (code) => closed.push(code)));
  const edge = await inspected(edgeTo(address));
  const client = new WebSocket(`ws://127.0.0.1:${edge.listening.port}/socket`, {
    headers: { host: 'app.test' },
  });
  await once(client, 'open');
  client.close(1000);
  await once(client, 'close');
  const { status, seq } = await sentAgain(edge);
  expect(status).toBe(101);
  const { row } = await edge.ok<ExchangeDetail>('GET', `/api/exchanges/${seq}`);
  expect(row).toMatchObject({ target: '/socket', status: 101, resentFrom: 1 });
});

test('without a listener the answer names the cause', async () => {
  const { address } = await application(() => ({ body: 'ok' }));
  const edge = await inspected(edgeTo(address));
  await edge.send('/');
  await edge.listening.close(0);
  expect(await edge.api('POST', '/api/exchanges/1/resend', {})).toMatchObject({
    status: 502,
    value: { message: 'it could not be sent: nothing listens there' },
  });
});
