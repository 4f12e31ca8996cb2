import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';

/** Far from the current time. */
const NOW_MS = Date.UTC(2001, 1, 3, 4, 5, 6, 789);
const NOW = '2001-02-03T04:05:06.789Z';
const DATE = 'Sat, 03 Feb 2001 04:05:06 GMT';

let upstream: Server;
beforeAll(async () => {
  upstream = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'));
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => upstream.close());

/** An edge with a fixed clock that listens for HTTP and for one TCP edge; `told` collects all its events. */
async function serve() {
  const told: string[] = [];
  let waiting: () => void = () => {};
  const hear = (event: unknown): void => {
    told.push(JSON.stringify(event));
    waiting();
  };
  const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const backend = { backend_id: 'app' };
  const edge = createEdge(
    {
      backends: { app: { static: { address } } },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend }],
          },
        },
        tcp: { database: { hostports: ['1.tcp.test:5432'], backend } },
      },
    },
    { clock: () => NOW_MS, onEvent: hear, onConnection: hear },
  );
  const listening = await edge.listen({ tcp: { ports: { '1.tcp.test:5432': 0 } } });
  return {
    listening,
    events: async (count: number) => {
      while (told.length < count) await new Promise<void>((resolve) => (waiting = resolve));
      return told;
    },
  };
}

/** Every string of an event that is a time. */
function timesIn(event: string): string[] {
  return event.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? [];
}

async function sent(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let got = '';
  for await (const bytes of socket) got += (bytes as Buffer).toString();
  return got;
}

test('a fixed clock is the time of everything that a live edge reports', async () => {
  const { listening, events } = await serve();
  const { port } = listening;
  try {
    const ok = await sent(port, 'GET / HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n');
    expect(ok).toContain(`Date: ${DATE}\r\n`);
    const refused = await sent(port, 'GET / HTTP/1.1\r\nhost : shop.test\r\n\r\n');
    expect(refused).toContain(`Date: ${DATE}\r\n`);

    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':authority': 'shop.test', ':path': '/' });
    const [head] = await once(stream, 'response');
    expect(head.date).toBe(DATE);
    stream.resume();
    await once(stream, 'close');
    session.close();

    const [tcp] = listening.ports();
    const socket = connect(tcp!.listensOn, '127.0.0.1');
    socket.write('hello');
    await once(socket, 'data');
    socket.end();
    socket.destroy();

    const told = await events(4);
    for (const event of told) {
      const times = timesIn(event);
      expect(times.length).toBeGreaterThanOrEqual(2);
      expect(new Set(times.map((time) => new Date(time).toISOString()))).toEqual(new Set([NOW]));
    }
  } finally {
    await listening.close(0);
  }
});
