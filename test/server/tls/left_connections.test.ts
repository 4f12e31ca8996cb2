import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../../src/edgeproof.ts';
import type { Listening } from '../../../src/listening.ts';
import { frameReader, FRAME, PREFACE, request, settings } from '../../http2/frames.ts';
import { type Pair, CLIENT, SERVER, testAuthority } from './authority.ts';

/** Open descriptors of this process, or its sockets if the system does not list descriptors. */
function descriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name)).length;
  }
}

const GET = 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n';
const H2 = (scheme: string, authority: string): Buffer =>
  Buffer.concat([PREFACE, settings(), request(1, '/', { scheme, authority })]);

/** Settles with the first response. */
function answered(socket: Duplex, isHttp2: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error('closed before it answered')));
    const read = frameReader(({ type }) => {
      if (type === FRAME.data) resolve();
    });
    socket.on('data', (bytes: Buffer) => (isHttp2 ? read(bytes) : resolve()));
  });
}

describe('connections that their client has left', () => {
  let edge: Edge;
  let listening: Listening;
  let client: Pair;
  let ca: string;
  const upstream = createServer((_request, response) => void response.end('hello'));

  beforeAll(async () => {
    const authority = testAuthority('servers');
    const partners = testAuthority('partners');
    const shop = authority.issue('shop.test', SERVER('shop.test', 'api.test'));
    client = partners.issue('robot', CLIENT);
    ca = authority.cert;
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const routes = [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }];
    edge = createEdge({
      backends: { app: { static: { address: `127.0.0.1:${(upstream.address() as AddressInfo).port}` } } },
      tls_certificates: { shop: { certificate_pem: shop.cert, private_key_pem: shop.key } },
      certificate_authorities: { partners: { ca_pem: partners.cert } },
      edges: {
        https: {
          shop: { hostports: ['shop.test:443'], routes },
          api: {
            hostports: ['api.test:443'],
            mutual_tls: { certificate_authority_ids: ['partners'] },
            routes,
          },
        },
      },
    });
    listening = await edge.listen({ tls: { port: 0 } });
  });
  afterAll(async () => {
    await listening.close(0);
    upstream.closeAllConnections();
    upstream.close();
  });

  async function open(kind: string, under?: Duplex): Promise<Duplex> {
    const isHttp2 = kind.includes('HTTP/2');
    if (kind.startsWith('clear')) {
      const socket = connectTcp({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      socket.write(isHttp2 ? H2('http', 'shop.test') : GET);
      await answered(socket, isHttp2);
      return socket;
    }
    const name = kind.startsWith('mutual') ? 'api.test' : 'shop.test';
    const options: ConnectionOptions = {
      ca,
      servername: name,
      ALPNProtocols: [isHttp2 ? 'h2' : 'http/1.1'],
      ...(under === undefined ? { port: listening.tlsPort!, host: '127.0.0.1' } : { socket: under }),
      ...(kind.startsWith('mutual') && { cert: client.cert, key: client.key }),
      ...({ allowHalfOpen: true } as object),
    };
    const socket = connectTls(options);
    socket.on('error', () => undefined);
    socket.write(isHttp2 ? H2('https', name) : GET.replace('shop.test', name));
    await answered(socket, isHttp2);
    return socket;
  }

  const KINDS = ['clear', 'TLS', 'mutual TLS'].flatMap((kind) => [`${kind} HTTP/1.1`, `${kind} HTTP/2`]);

  it.each(KINDS)('%s: after the client’s close the edge closes', async (kind) => {
    const socket = await open(kind);
    const over = once(socket, 'close', { signal: AbortSignal.timeout(3_000) });
    socket.end();
    await over;
  });

  it.each(KINDS)('%s: 60 clients one after another leave no descriptor', async (kind) => {
    (await open(kind)).destroy(); // loads code that is loaded once
    await expect.poll(() => upstreamIsIdle()).toBe(true);
    const before = descriptors();
    for (let count = 0; count < 60; count++) {
      const socket = await open(kind);
      if (count % 2 === 0) socket.destroy();
      else socket.end();
    }
    await expect.poll(descriptors).toBeLessThanOrEqual(before + 2);
  });

  it.each(KINDS.filter((kind) => !kind.startsWith('clear')))(
    '%s: a session that ends does not wait for its client to close TCP',
    async (kind) => {
      const tcp = connectTcp({ port: listening.tlsPort!, host: '127.0.0.1', allowHalfOpen: true });
      await once(tcp, 'connect');
      const before = descriptors();
      // It ends TLS (close_notify) and keeps TCP open.
      const under = new Duplex({
        read: () => void tcp.resume(),
        write: (bytes: Buffer, _encoding, done) => void tcp.write(bytes, done),
        final: (done) => done(),
      });
      tcp.on('data', (bytes: Buffer) => void under.push(bytes)).on('error', () => undefined);
      const socket = await open(kind, under);
      socket.end();
      await expect.poll(descriptors).toBeLessThan(before);
      tcp.destroy();
    },
  );

  async function upstreamIsIdle(): Promise<boolean> {
    return new Promise((resolve) => upstream.getConnections((_error, count) => resolve(count <= 2)));
  }
});
