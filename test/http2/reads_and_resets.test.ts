import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Order, Ports, Stats } from '../server/faults/edge_process.ts';
import {
  data,
  FLAG,
  FRAME,
  frameReader,
  goaway,
  headers,
  ping,
  PREFACE,
  reset,
  settings,
  SETTINGS_ACK,
} from './frames.ts';

/**
 * Upstreams that answer an upload of unknown length, and go on, in one write, while the edge ends the stream because of
 * the first frame. Reset within that read, the stream made Node abort the process: an edge in its own process shows it.
 */

const PG = '1.tcp.test:5432';
const TIMES = 4;
const OK = [[':status', '200']] as const;

// table: what follows the head of the response in the same write
const REST: Readonly<Record<string, (stream: number) => readonly Buffer[]>> = {
  'the end': (stream) => [data(stream, '', true)],
  'content and the end': (stream) => [data(stream, 'x'), data(stream, 'y', true)],
  trailers: (stream) => [data(stream, 'x'), headers(stream, [['x-sum', '1']])],
  'a ping, settings and the end': (stream) => [ping(), settings([[4, 70_000]]), data(stream, 'y', true)],
  'a reset': (stream) => [data(stream, 'x'), reset(stream, 8)],
  'a goodbye with CANCEL': (stream) => [data(stream, 'x'), goaway(0, 8)],
  'a faulty frame': (stream) => [data(stream, 'x'), data(0, 'x')],
};

/** Answers each stream with its head and `rest`, in one write. */
function hasty(rest: (stream: number) => readonly Buffer[]): (socket: Socket) => void {
  return (socket) => {
    let preface = PREFACE.length;
    const read = frameReader(({ type, flags, stream }) => {
      if (type === FRAME.settings && (flags & FLAG.ack) === 0) socket.write(SETTINGS_ACK);
      if (type !== FRAME.headers) return;
      socket.write(Buffer.concat([headers(stream, OK, false), ...rest(stream)]));
    });
    socket.write(settings());
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      const skipped = Math.min(preface, bytes.length);
      preface -= skipped;
      read(bytes.subarray(skipped));
    });
  };
}

describe('an upstream that continues while its stream is ended', () => {
  const names = Object.keys(REST);
  const servers: Server[] = [];
  let edge: ReturnType<typeof spawn>;
  let port = 0;
  let exited: number | string | null = null;

  beforeAll(async () => {
    const backends: Record<string, object> = {};
    for (const [at, name] of names.entries()) {
      const server = createServer(hasty(REST[name]!)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.push(server);
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      backends[`b${at}`] = { static: { address, protocol: 'http2' } };
    }
    const ending = { type: 'custom-response', config: { status_code: 418 } };
    const routes = names.map((_name, at) => ({
      match_type: 'path_prefix',
      match: `/${at}`,
      backend: { backend_id: `b${at}` },
      traffic_policy: { value: JSON.stringify({ on_http_response: [{ actions: [ending] }] }) },
    }));
    const edges = {
      https: { a: { hostports: ['a.test:443'], routes } },
      tcp: { pg: { hostports: [PG], backend: { backend_id: 'b0' } } },
    };
    const order: Order = { config: { backends, edges }, tls: false, tcp: PG };
    const script = join(import.meta.dirname, '../server/faults/edge_process.ts');
    edge = spawn(process.execPath, ['--expose-gc', script, JSON.stringify(order)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    edge.once('exit', (code, signal) => void (exited = signal ?? code));
    port = ((await once(edge, 'message')) as [Ports])[0].plain;
  });

  afterAll(async () => {
    for (const server of servers) server.close();
    if (exited !== null) return;
    edge.disconnect();
    await once(edge, 'exit');
  });

  it.each(names.map((name, at) => [name, at] as const))('%s', async (_name, at) => {
    for (let time = 0; time < TIMES && exited === null; time++) {
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      client.write(
        `POST /${at}/x HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
      );
      await Promise.race([once(client, 'data'), once(client, 'close')]);
      client.destroy();
    }
    expect(exited).toBe(null);
    edge.send('stats');
    const [{ bugs, warnings }] = (await once(edge, 'message')) as [Stats];
    expect({ bugs, warnings }).toEqual({ bugs: 0, warnings: [] });
  });
});
