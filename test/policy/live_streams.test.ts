import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Edge, type Listening, createEdge } from '../../src/edgeproof.ts';

const POLICY = {
  on_http_response: [
    { expressions: ["req.url.path == '/packed'"], actions: [{ type: 'compress-response' }] },
  ],
  on_event_stream_message: [
    { actions: [{ type: 'sse-find-replace', config: { replacements: [{ from: '\\d{4}', to: '####' }] } }] },
  ],
};

let upstream: Server;
let upstreamSocket: Promise<Socket>;
let edge: Edge;
let listening: Listening;

beforeEach(async () => {
  upstream = createServer();
  upstreamSocket = new Promise((resolve) => {
    upstream.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => resolve(socket));
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } };
  edge = createEdge({
    backends: { app: { static: { address: `127.0.0.1:${port}` } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ ...route, traffic_policy: { value: JSON.stringify(POLICY) } }],
        },
      },
    },
  });
  listening = await edge.listen();
});
afterEach(async () => {
  (await upstreamSocket).destroy();
  await listening.close(0);
  upstream.close();
});

/** A client that keeps what it has got, and waits for what is still to come. */
async function client(path = '/') {
  const socket = connect(listening.port, '127.0.0.1');
  let got = '';
  let isClosed = false;
  let look = (): void => {};
  socket.on('data', (bytes) => {
    got += bytes.toString('latin1');
    look();
  });
  socket.on('close', () => {
    isClosed = true;
    look();
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: shop.test\r\naccept-encoding: gzip\r\n\r\n`);
  const until = (holds: (text: string, isClosed: boolean) => boolean): Promise<string> =>
    new Promise((resolve) => {
      look = () => holds(got, isClosed) && resolve(got);
      look();
    });
  return { socket, until, got: () => got };
}

async function stream(): Promise<Socket> {
  const socket = await upstreamSocket;
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
  return socket;
}

/** `once` would reject for the reset that comes before. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

describe('replacing in an event stream that never ends', () => {
  it('each event arrives as soon as it is complete', async () => {
    const asking = await client();
    const there = await stream();
    await asking.until((text) => text.includes('\r\n\r\n'));
    for (let count = 1; count <= 20; count++) {
      there.write(chunk(`data: ${count} 1234\n`));
      there.write(chunk('\n'));
      await asking.until((text) => text.includes(`data: ${count} ####\n\n`));
    }
    expect(asking.got()).not.toContain('1234');
    asking.socket.destroy();
  });

  it('a partial event is not sent yet', async () => {
    const asking = await client();
    const there = await stream();
    there.write(chunk('data: one\n\ndata: 12'));
    await asking.until((text) => text.includes('data: one\n\n'));
    there.write(chunk('34\n'));
    there.write(chunk('\ndata: two\n\n'));
    const got = await asking.until((text) => text.includes('data: two'));
    expect(got).toContain('data: one\n\n');
    expect(got).toContain('data: ####\n\n');
    expect(got).not.toMatch(/data: 12/);
    asking.socket.destroy();
  });

  it('an event without an end is cut off with the connection, so that the client sees that it is incomplete', async () => {
    const asking = await client();
    const there = await stream();
    there.write(chunk('data: 1234\n\n'));
    await asking.until((text) => text.includes('data: ####\n\n'));
    const gone = closed(there);
    there.write(chunk(`data: ${'1234 '.repeat(300_000)}`));
    const got = await asking.until((_text, isClosed) => isClosed);
    await gone;
    expect(got.endsWith('0\r\n\r\n')).toBe(false);
    expect(got).not.toContain('1234');
  });

  it('a client that leaves ends the upstream request', async () => {
    const asking = await client();
    const there = await stream();
    there.write(chunk('data: 1\n\n'));
    await asking.until((text) => text.includes('data: 1'));
    const gone = closed(there);
    asking.socket.destroy();
    await gone;
  });

  it('compressed streams flow, too', async () => {
    const asking = await client('/packed');
    const there = await stream();
    const head = await asking.until((text) => text.includes('\r\n\r\n'));
    expect(head).toMatch(/content-encoding: gzip/i);
    let { length } = asking.got();
    for (let count = 0; count < 5; count++) {
      there.write(chunk('data: 1234\n\n'));
      ({ length } = await asking.until((text) => text.length > length + 4));
    }
    asking.socket.destroy();
  });

  it('the end of the stream flushes the rest', async () => {
    const asking = await client();
    const there = await stream();
    there.write(`${chunk('data: 1234\n\ndata: 5678')}0\r\n\r\n`);
    const got = await asking.until((text) => text.endsWith('0\r\n\r\n'));
    expect(got).toContain('data: ####\n\n');
    expect(got).not.toContain('5678');
    asking.socket.destroy();
  });
});
