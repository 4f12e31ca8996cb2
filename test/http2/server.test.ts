import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import { CONTROL } from '../../src/http2/limits.ts';
import type { HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import type { Listening } from '../../src/listening.ts';
import { hasProgram } from '../peers.ts';

const hasCurl = hasProgram('curl', ['--version'], 'HTTP/2 of curl');

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** What the upstream does with the next request; by default it responds with what it received. */
let handle: Handle | null = null;
const echo: Handle = (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const { method, url, headers, rawHeaders } = request;
    const bytes = Buffer.concat(pieces).length;
    response.end(JSON.stringify({ method, url, headers, rawHeaders, bytes }));
  });
};
const upstream = createServer((request, response) => (handle ?? echo)(request, response));

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly trailers: Readonly<Record<string, unknown>>;
}

/** Settles when it has closed, even by an error. */
function closed(thing: ClientHttp2Stream | ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    const onClose = (): void => resolve();
    if ('id' in thing) thing.once('close', onClose);
    else (thing as ClientHttp2Session).once('close', onClose);
  });
}

/** Everything that arrives on a stream; `status` is 0 if it was reset before a head arrived. */
async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let headers: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  let text = '';
  stream.on('error', () => undefined);
  stream.on('response', (given) => (headers = { ...given }));
  stream.on('trailers', (given) => (trailers = { ...given }));
  stream.on('data', (piece: Buffer) => (text += piece.toString()));
  await closed(stream);
  return { status: Number(headers[':status'] ?? 0), headers, text, trailers };
}

describe('HTTP/2 from clients', () => {
  let edge: Edge;
  let listening: Listening;
  let session: ClientHttp2Session;
  const events: HttpRequestCompleteEvent['object'][] = [];

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    edge = createEdge(
      {
        backends: { app: { static: { address: `127.0.0.1:${port}` } } },
        edges: {
          https: {
            a: {
              hostports: ['a.test:443'],
              routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
            },
          },
        },
      },
      {
        onEvent: ({ object }) => void events.push(object),
      },
    );
    listening = await edge.listen({ limits: { bodyIdleMs: 400, writeIdleMs: 1_000 } });
    session = connect(listening.url);
    session.on('error', () => undefined);
  });

  afterEach(() => {
    handle = null;
  });

  afterAll(async () => {
    session.destroy();
    await listening.close(0);
    upstream.closeAllConnections();
    upstream.close();
  });

  const ask = (fields: Record<string, string | string[]>, options = {}): ClientHttp2Stream =>
    session.request({ ':authority': 'a.test', ...fields }, options);

  const seen = async (fields: Record<string, string | string[]>): Promise<Seen> =>
    JSON.parse((await answerOf(ask(fields))).text) as Seen;

  it('a request becomes HTTP/1.1 with Host for :authority and one Cookie for its crumbs', async () => {
    const { method, url, headers } = await seen({ ':path': '/x?y=1', cookie: ['a=1', 'b=2'] });
    expect([method, url]).toEqual(['GET', '/x?y=1']);
    expect(headers).toMatchObject({ host: 'a.test', cookie: 'a=1; b=2' });
    expect(Object.keys(headers).filter((name) => name.startsWith(':'))).toEqual([]);
  });

  it('an upload of 3 MB arrives completely', async () => {
    const stream = ask({ ':path': '/', ':method': 'POST' });
    const answered = answerOf(stream);
    stream.end(Buffer.alloc(3_000_000, 1));
    expect(JSON.parse((await answered).text)).toMatchObject({ bytes: 3_000_000, method: 'POST' });
  });

  it('a download of 8 MB waits for its reader', async () => {
    let isBlocked = false;
    handle = (_request, response) => {
      let left = 80;
      const more = (): void => {
        while (left-- > 0) {
          if (!response.write(Buffer.alloc(100_000, left))) {
            isBlocked = true;
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    };
    const stream = ask({ ':path': '/' });
    let bytes = 0;
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      stream.pause();
      setImmediate(() => stream.resume());
    });
    await once(stream, 'end');
    expect(bytes).toBe(8_000_000);
    expect(isBlocked).toBe(true);
  });

  it('early hints, 100-continue and trailers pass', async () => {
    handle = (request, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      request.resume().on('end', () => {
        response.writeHead(200, { trailer: 'x-sum' });
        response.write('body');
        response.addTrailers({ 'x-sum': 'abc', 'content-type': 'text/evil' });
        response.end();
      });
    };
    const stream = ask({ ':path': '/', ':method': 'POST', expect: '100-continue', te: 'trailers' });
    const interim: unknown[] = [];
    stream.on('headers', (headers) => interim.push([headers[':status'], headers['link']]));
    const answered = answerOf(stream);
    await new Promise<void>((resolve) => stream.once('continue', resolve));
    stream.end('x');
    const { text, trailers } = await answered;
    expect(text).toBe('body');
    expect(interim).toContainEqual([103, '</a.css>; rel=preload']);
    expect(trailers['x-sum']).toBe('abc');
    expect(trailers['content-type']).toBeUndefined();
  });

  it('HEAD, 204 and 304 end with their head', async () => {
    handle = (request, response) => {
      response.statusCode = Number(request.url!.slice(1));
      response.end(request.method === 'HEAD' ? undefined : '');
    };
    for (const [method, status] of [
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 304],
    ] as const) {
      const answer = await answerOf(ask({ ':method': method, ':path': `/${status}` }));
      expect([answer.status, answer.text]).toEqual([status, '']);
    }
  });

  it('a refused HEAD ends with its head, too', async () => {
    const stream = ask({ ':method': 'HEAD', ':path': '/', expect: 'miracles' });
    const answer = await answerOf(stream);
    expect([answer.status, answer.text, stream.rstCode]).toEqual([417, '', constants.NGHTTP2_NO_ERROR]);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
  });

  it.each([0, 100, 4_095, 65_536])('a client whose HPACK table has %s bytes is served', async (bytes) => {
    handle = (_request, response) => response.end('ok');
    const client = connect(listening.url, { settings: { headerTableSize: bytes } });
    for (const request of [1, 2]) {
      const answer = await answerOf(client.request({ ':path': `/${request}`, ':authority': 'a.test' }));
      expect([answer.status, answer.text]).toEqual([200, 'ok']);
    }
    client.close();
    await closed(client);
  });

  it.each([
    ['Host that differs', { host: 'b.test' }, 400],
    ['another scheme', { ':scheme': 'https' }, 400],
    ['an unknown expectation', { expect: 'miracles' }, 417],
    [
      'a head of too many fields',
      Object.fromEntries(Array.from({ length: 510 }, (_, at) => [`x-${at}`, 'x'])),
      431,
    ],
    ['a dot segment behind an encoded slash', { ':path': '/x%2f..%2fadmin' }, 400],
  ])('%s is refused, with an event', async (_name, fields, status) => {
    const before = events.length;
    const answer = await answerOf(ask({ ':path': '/', ...fields }));
    expect(answer.status).toBe(status);
    expect(events.length).toBe(before + 1);
    expect(events.at(-1)!.http.response.status_code).toBe(status);
  });

  it('a body that never ends, though it never stops, gets 408', async () => {
    const slow = await edge.listen({ limits: { bodyIdleMs: 600_000, requestMs: 100 } });
    const client = connect(slow.url);
    const stream = client.request({ ':authority': 'a.test', ':path': '/', ':method': 'POST' });
    stream.write('x');
    const status = (await answerOf(stream)).status;
    client.destroy();
    await slow.close(0);
    expect(status).toBe(408);
  });

  it('a body that stops gets 408, and one event', async () => {
    const before = events.length;
    const stream = ask({ ':path': '/', ':method': 'POST' });
    stream.write('half');
    expect((await answerOf(stream)).status).toBe(408);
    expect(events.length).toBe(before + 1);
  });

  it('a client that resets its stream cancels the upstream, and makes one event', async () => {
    const left = new Promise<void>((resolve) => {
      handle = (_request, response) => {
        response.write('begin');
        response.once('close', resolve);
      };
    });
    const before = events.length;
    const stream = ask({ ':path': '/' });
    stream.on('error', () => undefined);
    await once(stream, 'data');
    stream.close(constants.NGHTTP2_CANCEL);
    await left;
    await expect.poll(() => events.length).toBe(before + 1);
  });

  it('an upstream that breaks off resets the stream, so that a part does not look complete', async () => {
    handle = (_request, response) => {
      response.write('half of it');
      setImmediate(() => response.destroy());
    };
    const stream = ask({ ':path': '/' });
    const { status, text } = await answerOf(stream);
    expect([status, text]).toEqual([200, 'half of it']);
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  it('a response before the end of the request is complete, and the rest of the request is not requested', async () => {
    handle = (_request, response) => void response.end('enough');
    const stream = ask({ ':path': '/', ':method': 'POST' });
    const answered = answerOf(stream);
    stream.write('x');
    expect((await answered).text).toBe('enough');
  });

  it('a storm of resets ends the connection, and every request has its event', async () => {
    handle = () => undefined;
    const before = events.length;
    const storm = connect(listening.url);
    storm.on('error', () => undefined);
    const ended = closed(storm);
    let begun = 0;
    const more = (): void => {
      if (storm.destroyed || storm.closed) return;
      for (let at = 0; at < 50; at++) {
        const stream = storm.request({ ':path': '/', ':authority': 'a.test' });
        stream.on('error', () => undefined);
        stream.close(constants.NGHTTP2_CANCEL);
        begun++;
      }
      if (begun < 20_000) setImmediate(more);
    };
    storm.once('connect', more);
    await ended;
    expect(begun).toBeLessThan(20_000);
    expect(events.length - before).toBeLessThanOrEqual(1_500);
    // Other clients are served as before.
    handle = null;
    expect((await answerOf(ask({ ':path': '/' }))).status).toBe(200);
  });

  it('a client may send a ping for each response, as clients of gRPC do', async () => {
    handle = (_request, response) => response.end('ok');
    const client = connect(listening.url);
    for (let count = 0; count < CONTROL.frames + 100; count++) {
      const answer = await answerOf(client.request({ ':path': '/', ':authority': 'a.test' }));
      expect(answer.status).toBe(200);
      await new Promise<void>((resolve, reject) => {
        client.ping((error) => (error === null ? resolve() : reject(error)));
      });
    }
    client.close();
    await closed(client);
  });

  it('a flood of pings ends the connection', async () => {
    const flood = connect(listening.url);
    flood.on('error', () => undefined);
    await once(flood, 'connect');
    const ended = closed(flood);
    let sent = 0;
    const more = (): void => {
      if (flood.destroyed || sent > 50_000) return;
      sent++;
      flood.ping(() => more());
    };
    for (let at = 0; at < 8; at++) more();
    await ended;
    expect(sent).toBeLessThan(5_000);
  });

  it.skipIf(!hasCurl)('works with curl and prior knowledge', async () => {
    const { stdout } = await promisify(execFile)('curl', [
      '-s',
      '--http2-prior-knowledge',
      '-w',
      ' %{http_version}',
      '-H',
      'Host: a.test',
      '-d',
      'x=1',
      `${listening.url}/form`,
    ]);
    expect(stdout).toMatch(/"bytes":3.* 2$/);
  });

  it('a drain accepts no new streams and lets open ones end', async () => {
    let finish: () => void = () => undefined;
    handle = (_request, response) => {
      response.write('first ');
      finish = () => response.end('last');
    };
    const own = await edge.listen({});
    const client = connect(own.url);
    client.on('error', () => undefined);
    const stream = client.request({ ':path': '/', ':authority': 'a.test' });
    const answered = answerOf(stream);
    await once(stream, 'data');
    const goaway = once(client, 'goaway');
    const drained = own.close(5_000);
    await goaway;
    finish();
    expect((await answered).text).toMatch(/last$/);
    expect(await drained).toEqual({ cut: 0 });
  });

  it('a drain disconnects a client that stays after GOAWAY', async () => {
    handle = (_request, response) => void response.write('endless');
    const own = await edge.listen({});
    const client = connect(own.url);
    client.on('error', () => undefined);
    const stream = client.request({ ':path': '/', ':authority': 'a.test' });
    stream.on('error', () => undefined);
    await once(stream, 'response'); // it stops reading, so it does not see the end
    expect(await own.close(200)).toEqual({ cut: 1 });
    client.destroy();
  });
});
