import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { seeded } from '../random.ts';
import { CLIENT, SERVER, testAuthority } from '../server/tls/authority.ts';
import { data, FLAG, FRAME, frameReader, PREFACE, request, settings, windowUpdate } from './frames.ts';

/** A route that compresses, whose upstream responds to an HTTP/2 upload before the upload has ended. */

const WINDOW = 10_000_000;
const HINT = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const CONTENT = 'answered early '.repeat(40);
/** Too long to be compressed as a whole: only its end reveals its length. */
const chance = seeded(7);
const LONG = Array.from({ length: 20_000 }, () => chance().toString(36)).join('');

/** What was observed on one stream. */
interface Seen {
  heads: number;
  content: Buffer[];
  ended: boolean;
  /** Code of a reset; null without one. */
  reset: number | null;
}

describe('an upload with an early response', () => {
  let edge: Edge;
  let listening: Listening;
  let upstream: Server;
  let ca = '';
  let client: { cert: string; key: string } | null = null;
  const reasons: string[] = [];
  const faults: string[] = [];
  const onWarning = ({ name, message }: Error): void =>
    void (name === 'EdgeproofFault' && faults.push(message));

  beforeAll(async () => {
    process.on('warning', onWarning);
    upstream = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes: Buffer) => {
        const target = bytes.toString('latin1').split(' ')[1] ?? '';
        const content = target.includes('long') ? LONG : CONTENT;
        const head = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${content.length}\r\n\r\n`;
        socket.write(`${target.includes('hint') ? HINT + HINT : ''}${head}${content}`);
        if (target.includes('leave')) socket.end();
      });
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const routes = [
      { match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, compression: {} },
    ];
    let secure: object = {};
    let mutual: object = {};
    const servers = testAuthority('servers');
    const partners = testAuthority('partners');
    ca = servers.cert;
    client = partners.issue('robot', CLIENT);
    const { cert, key } = servers.issue('a.test', SERVER('a.test', 'm.test'));
    secure = {
      tls_certificates: { a: { certificate_pem: cert, private_key_pem: key } },
      certificate_authorities: { partners: { ca_pem: partners.cert } },
    };
    const mutual_tls = { certificate_authority_ids: ['partners'] };
    mutual = { m: { hostports: ['m.test:443'], routes, mutual_tls } };
    const config = {
      backends: { app: { static: { address } } },
      edges: { https: { a: { hostports: ['a.test:443'], routes }, ...mutual } },
      ...secure,
    };
    edge = createEdge(config, {
      onEvent: (_event, explain) => void reasons.push(explain().decidedBy.code),
    });
    listening = await edge.listen({ tls: { port: 0 } });
  });

  afterAll(async () => {
    process.off('warning', onWarning);
    await listening.close(0);
    upstream.close();
  });

  async function dial(host: string | null): Promise<Socket> {
    if (host === null) return connect({ port: listening.port, host: '127.0.0.1' });
    const options = {
      port: listening.tlsPort!,
      host: '127.0.0.1',
      servername: host,
      ca,
      ALPNProtocols: ['h2'],
    };
    const socket = connectTls({ ...options, ...(host === 'm.test' && client) });
    await once(socket, 'secureConnect');
    return socket;
  }

  /** Ten concurrent uploads without an end, until all are answered and reset. */
  async function uploads(host: string | null, target: string): Promise<Seen[]> {
    const socket = await dial(host);
    const seen = new Map<number, Seen>();
    const ids = Array.from({ length: 10 }, (_, index) => 2 * index + 1);
    for (const id of ids) seen.set(id, { heads: 0, content: [], ended: false, reset: null });
    const done = new Promise<void>((resolve) => {
      const read = frameReader(({ type, flags, stream, payload }) => {
        const one = seen.get(stream);
        if (one === undefined) return;
        if (type === FRAME.headers) one.heads++;
        if (type === FRAME.data) one.content.push(Buffer.from(payload));
        const ends = type === FRAME.headers || type === FRAME.data;
        if (ends && (flags & FLAG.endStream) !== 0) one.ended = true;
        if (type === FRAME.reset) one.reset = payload.readUInt32BE(0);
        if (ids.every((id) => seen.get(id)!.reset !== null)) resolve();
      });
      socket
        .on('data', read)
        .once('close', () => resolve())
        .on('error', () => undefined);
    });
    const scheme = host === null ? 'http' : 'https';
    const authority = host ?? 'a.test';
    const more = [['accept-encoding', 'gzip']] as const;
    socket.write(Buffer.concat([PREFACE, settings([[4, WINDOW]]), windowUpdate(0, WINDOW)]));
    for (const id of ids)
      socket.write(request(id, target, { method: 'POST', endStream: false, scheme, authority, more }));
    for (const id of ids) socket.write(data(id, 'the first of much'));
    await done;
    socket.destroy();
    return [...seen.values()];
  }

  const places = [null, 'a.test', 'm.test'];
  for (const host of places) {
    for (const target of ['/now', '/hint', '/leave', '/hint/leave', '/long', '/hint/long', '/long/leave']) {
      const name = host === null ? 'cleartext' : host === 'm.test' ? 'mutual TLS' : 'TLS';
      it(`${target} over ${name}: the complete response, its end, and NO_ERROR for the rest`, async () => {
        const seen = await uploads(host, target);
        expect(seen.map(({ ended, reset }) => ({ ended, reset }))).toEqual(
          seen.map(() => ({ ended: true, reset: 0 })),
        );
        expect(new Set(seen.map(({ content }) => gunzipSync(Buffer.concat(content)).toString()))).toEqual(
          new Set([target.includes('long') ? LONG : CONTENT]),
        );
        expect(seen.every(({ heads }) => heads === (target.startsWith('/hint') ? 3 : 1))).toBe(true);
        expect(reasons).not.toContain('engine.bug');
        expect(faults).toEqual([]);
      });
    }
  }
});
