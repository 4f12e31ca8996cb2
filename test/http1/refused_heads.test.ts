import { afterAll, beforeAll, expect, test } from 'vitest';
import { ingress, type Ingress } from './ingress.ts';
import { answering, dial, hasHead, OK, recorder, type Recorder, statusOf } from './sockets.ts';
import { forwarding } from './test_exchange_port.ts';

let up: Recorder;
let edge: Ingress;

beforeAll(async () => {
  up = await recorder(answering(OK));
  edge = await ingress(forwarding(() => up.port));
});
afterAll(async () => {
  await edge.close();
  await up.close();
});

const CL = 'Content-Length';
const TE = 'Transfer-Encoding';

/** Heads that no proxy may forward, with the required status. `~` stands for the host field. */
const REFUSED: readonly (readonly [name: string, status: number, request: string])[] = [
  ['obs-fold', 400, 'GET / HTTP/1.1\r\n~X: a\r\n b\r\n\r\n'],
  ['obs-fold in a length', 400, `POST / HTTP/1.1\r\n~${CL}:\r\n 3\r\n\r\nabc`],
  ['bare LF after the request line', 400, 'GET / HTTP/1.1\nHost: a\n\n'],
  ['bare LF after a field', 400, 'GET / HTTP/1.1\r\n~X: a\nY: b\r\n\r\n'],
  ['bare CR in a value', 400, 'GET / HTTP/1.1\r\n~X: a\rY: b\r\n\r\n'],
  ['space before the colon', 400, 'GET / HTTP/1.1\r\n~X : a\r\n\r\n'],
  ['tab before the colon', 400, `POST / HTTP/1.1\r\n~${TE}\t: chunked\r\n\r\n0\r\n\r\n`],
  ['space before the first field', 400, 'GET / HTTP/1.1\r\n Host: a\r\n\r\n'],
  ['NUL in a value', 400, 'GET / HTTP/1.1\r\n~X: a\0b\r\n\r\n'],
  ['control in a value', 400, 'GET / HTTP/1.1\r\n~X: a\x01b\r\n\r\n'],
  ['empty field name', 400, 'GET / HTTP/1.1\r\n~: a\r\n\r\n'],
  ['field name that is not a token', 400, 'GET / HTTP/1.1\r\n~X(y): a\r\n\r\n'],
  ['length and chunks', 400, `POST / HTTP/1.1\r\n~${CL}: 3\r\n${TE}: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks and length', 400, `POST / HTTP/1.1\r\n~${TE}: chunked\r\n${CL}: 3\r\n\r\n0\r\n\r\n`],
  ['two equal lengths', 400, `POST / HTTP/1.1\r\n~${CL}: 3\r\n${CL}: 3\r\n\r\nabc`],
  ['two different lengths', 400, `POST / HTTP/1.1\r\n~${CL}: 3\r\n${CL}: 4\r\n\r\nabcd`],
  ['list of lengths', 400, `POST / HTTP/1.1\r\n~${CL}: 3, 3\r\n\r\nabc`],
  ['length with a plus', 400, `POST / HTTP/1.1\r\n~${CL}: +3\r\n\r\nabc`],
  ['length with a minus', 400, `POST / HTTP/1.1\r\n~${CL}: -3\r\n\r\nabc`],
  ['length in hex', 400, `POST / HTTP/1.1\r\n~${CL}: 0x3\r\n\r\nabc`],
  ['empty length', 400, `POST / HTTP/1.1\r\n~${CL}:\r\n\r\n`],
  ['length beyond 2^64', 400, `POST / HTTP/1.1\r\n~${CL}: 99999999999999999999\r\n\r\nabc`],
  ['length beyond what is exact', 400, `POST / HTTP/1.1\r\n~${CL}: 9999999999999999\r\n\r\nabc`],
  ['unknown coding', 400, `POST / HTTP/1.1\r\n~${TE}: xchunked\r\n\r\n0\r\n\r\n`],
  ['identity', 400, `POST / HTTP/1.1\r\n~${TE}: identity\r\n\r\n0\r\n\r\n`],
  ['chunked, identity', 400, `POST / HTTP/1.1\r\n~${TE}: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['chunked twice', 400, `POST / HTTP/1.1\r\n~${TE}: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ['two fields of chunked', 400, `POST / HTTP/1.1\r\n~${TE}: chunked\r\n${TE}: chunked\r\n\r\n0\r\n\r\n`],
  ['two fields, one odd', 400, `POST / HTTP/1.1\r\n~${TE}: chunked\r\n${TE}: identity\r\n\r\n0\r\n\r\n`],
  ['vertical tab before chunked', 400, `POST / HTTP/1.1\r\n~${TE}: \vchunked\r\n\r\n0\r\n\r\n`],
  ['quoted chunked', 400, `POST / HTTP/1.1\r\n~${TE}: "chunked"\r\n\r\n0\r\n\r\n`],
  ['chunked with a parameter', 400, `POST / HTTP/1.1\r\n~${TE}: chunked;q=1\r\n\r\n0\r\n\r\n`],
  ['empty coding', 400, `POST / HTTP/1.1\r\n~${TE}:\r\n\r\n0\r\n\r\n`],
  ['gzip, chunked', 501, `POST / HTTP/1.1\r\n~${TE}: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['chunked in HTTP/1.0', 400, `POST / HTTP/1.0\r\n~${TE}: chunked\r\n\r\n0\r\n\r\n`],
  ['unknown method', 405, 'BREW / HTTP/1.1\r\n~\r\n'],
  ['method in lower case', 405, 'get / HTTP/1.1\r\n~\r\n'],
  ['unknown expectation', 417, 'GET / HTTP/1.1\r\n~Expect: tea\r\n\r\n'],
  ['HTTP/0.9 line', 505, 'GET /\r\n\r\n'],
  ['HTTP/0.9', 505, 'GET / HTTP/0.9\r\n~\r\n'],
  ['HTTP/1.2', 400, 'GET / HTTP/1.2\r\n~\r\n'],
  ['HTTP/2.0', 505, 'GET / HTTP/2.0\r\n~\r\n'],
  ['HTTP/2 preface', 505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['tab between the parts', 400, 'GET\t/\tHTTP/1.1\r\n~\r\n'],
  ['space behind the version', 400, 'GET / HTTP/1.1 \r\n~\r\n'],
  ['space in the target', 400, 'GET /a b HTTP/1.1\r\n~\r\n'],
  ['eighth bit in the target', 400, 'GET /\xe9 HTTP/1.1\r\n~\r\n'],
  ['TLS on a plain port', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['not HTTP at all', 400, 'hello\r\n\r\n'],
];

/** Correctly framed heads with a target that an edge cannot serve: the engine refuses them. */
const UNSERVED: typeof REFUSED = [
  ['second Host', 400, 'GET / HTTP/1.1\r\n~Host: b\r\n\r\n'],
  ['no Host', 400, 'GET / HTTP/1.1\r\nX: a\r\n\r\n'],
  ['Host with user info', 400, 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n'],
  ['Host with a space', 400, 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'],
  ['Host with a slash', 400, 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n'],
  ['Host with a bad port', 400, 'GET / HTTP/1.1\r\nHost: a:b\r\n\r\n'],
  ['absolute form that differs from Host', 400, 'GET http://b/ HTTP/1.1\r\n~\r\n'],
  ['fragment', 400, 'GET /a#b HTTP/1.1\r\n~\r\n'],
  ['asterisk', 400, 'OPTIONS * HTTP/1.1\r\n~\r\n'],
  ['asterisk with GET', 400, 'GET * HTTP/1.1\r\n~\r\n'],
  ['CONNECT', 405, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  ['TRACE', 405, 'TRACE / HTTP/1.1\r\n~\r\n'],
];

test.each(UNSERVED)('%s gets %i from the engine and is never forwarded', async (_name, status, request) => {
  const before = edge.traces.length;
  const client = await dial(edge.port);
  client.send(request.replace('~', 'Host: a\r\n'));
  expect(statusOf(await client.until(hasHead))).toBe(status);
  client.socket.destroy();
  await edge.arrived(before + 1);
  expect(edge.traces.slice(before).map((trace) => [trace.completions, trace.forwards.length])).toEqual([
    [1, 0],
  ]);
  expect(up.wires.length).toBe(0);
});

test.each(REFUSED)(
  '%s is refused with %i, never forwarded, and has an event',
  async (_name, status, request) => {
    const before = edge.traces.length;
    const client = await dial(edge.port);
    client.send(request.replace('~', 'Host: a\r\n'));
    const got = await client.until(hasHead);
    await client.closed;
    expect(statusOf(got)).toBe(status);
    expect(got.toLowerCase()).toContain('connection: close');
    await edge.arrived(before + 1);
    expect(edge.traces.slice(before).map((trace) => [trace.completions, trace.forwards.length])).toEqual([
      [1, 0],
    ]);
    expect(up.wires.length).toBe(0);
  },
);

test('a refused HEAD gets no content', async () => {
  const client = await dial(edge.port);
  client.send('HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n');
  await client.closed;
  expect(statusOf(client.got())).toBe(400);
  expect(client.got()).toMatch(/content-length: [1-9][^]*\r\n\r\n$/i);
});

test('the known parts of a refused head are in its event', async () => {
  const before = edge.traces.length;
  const client = await dial(edge.port);
  client.send('POST /pay?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc');
  await client.closed;
  expect(edge.traces[before]!.refused).toMatchObject({
    code: 'framing',
    head: { method: 'POST', target: '/pay?x=1', version: '1.1' },
    connection: { clientAddress: '127.0.0.1', serverPort: edge.port },
  });
});

test('a client that sends nothing and leaves is not a request', async () => {
  const before = edge.traces.length;
  const client = await dial(edge.port);
  client.socket.end();
  await client.closed;
  const other = await dial(edge.port);
  other.send('BREW / HTTP/1.1\r\nHost: a\r\n\r\n');
  await other.closed;
  expect(edge.traces.length).toBe(before + 1);
});

test('a head of 1 MB is accepted below the limit and refused with 431 above it', async () => {
  const big = 'a'.repeat(1_040_000);
  const client = await dial(edge.port);
  client.send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${big}\r\n\r\n`);
  await client.until((got) => got.endsWith('ok'));
  expect(up.all()).toContain(big);
  client.socket.destroy();

  const before = edge.traces.length;
  const other = await dial(edge.port);
  other.send(`GET / HTTP/1.1\r\nHost: a\r\nX: ${big}${big}\r\n\r\n`);
  expect(statusOf(await other.until(hasHead))).toBe(431);
  await other.closed;
  expect(edge.traces[before]!.refused?.code).toBe('head_too_large');
});

test('many small fields all arrive: none is silently dropped', async () => {
  const client = await dial(edge.port);
  const fields = Array.from({ length: 5_000 }, (_, index) => `x-${index}: ${index}\r\n`).join('');
  client.send(`GET / HTTP/1.1\r\nHost: a\r\n${fields}\r\n`);
  await client.until((got) => got.endsWith('ok'));
  expect(up.all()).toContain('x-4999: 4999\r\n');
  client.socket.destroy();
});
