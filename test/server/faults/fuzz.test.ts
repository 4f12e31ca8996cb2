import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { createServer, get as getHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../../src/edgeproof.ts';
import type { Listening } from '../../../src/listening.ts';
import { IS_FULL, runs } from '../../random.ts';
import { SERVER, testAuthority } from '../tls/authority.ts';
import { Chance, pause } from './chance.ts';
import { http1Script, http2Script, http2WebSocketScript, play, type Script, tcpScript } from './clients.ts';
import { type Target, webSocketScript } from './clients.ts';
import { faultyHttp1, faultyHttp2, faultyTcp, SHAPES, UPSTREAM_FAULTS } from './upstreams.ts';
import type { RawUpstream } from './raw_upstream.ts';

/** A factor of 50 makes a long run of 30,000. */
const CASES = IS_FULL ? runs(600, 600) : 200;
const AT_ONCE = 12;
const SEED = 16;

const PATHS = ['/plain', '/gzip', '/edit', '/held', '/limit', '/http2', '/denied'] as const;
const PG = '1.tcp.test:5432';

const on = (phase: string, type: string, config: object) => ({
  traffic_policy: { value: JSON.stringify({ [phase]: [{ actions: [{ type, config }] }] }) },
});

function configOf(upstreams: Readonly<Record<string, string>>, tls: { cert: string; key: string } | null) {
  const at = (address: string, more: object = {}) => ({ static: { address, ...more } });
  const route = (match: string, backend: string, more: object = {}) => ({
    match_type: 'path_prefix',
    match,
    backend: { backend_id: backend },
    ...more,
  });
  const replace = { replacements: [{ from: 'hello', to: 'goodbye' }] };
  const routes = [
    route('/good', 'good'),
    route('/gzip', 'http1', { compression: {} }),
    route('/edit', 'http1', on('on_http_response', 'response-body-find-replace', replace)),
    route('/held', 'http1', on('on_http_request', 'request-body-find-replace', replace)),
    route('/denied', 'http1', on('on_http_request', 'deny', { status_code: 403 })),
    route('/http2', 'http2', { compression: {} }),
    route('/bytes', 'tcp', { websocket_tcp_converter: {} }),
    route('/', 'http1'),
  ];
  return {
    backends: {
      good: at(upstreams['good']!),
      http1: at(upstreams['http1']!),
      http2: at(upstreams['http2']!, { protocol: 'http2' }),
      tcp: at(upstreams['tcp']!),
    },
    ...(tls !== null && { tls_certificates: { a: { certificate_pem: tls.cert, private_key_pem: tls.key } } }),
    edges: {
      https: { a: { hostports: ['a.test:443'], routes } },
      tcp: { pg: { hostports: [PG], backend: { backend_id: 'tcp' } } },
      ...(tls !== null && { tls: { t: { hostports: ['t.test:443'], backend: { backend_id: 'tcp' } } } }),
    },
  };
}

describe('clients and upstreams that go wrong at every step', () => {
  let edge: Edge;
  let listening: Listening;
  let ca = '';
  const upstreams: RawUpstream[] = [];
  const good = createServer((_request, response) => void response.end('good'));
  /** Requests by target, which is unique. */
  const events = new Map<string, number>();
  const reasons = new Map<string, number>();
  let streams = 0;
  const faults: string[] = [];
  const onWarning = (warning: Error): void => {
    if (warning.name === 'EdgeproofFault') faults.push(warning.message);
  };

  beforeAll(async () => {
    process.on('warning', onWarning);
    good.listen(0, '127.0.0.1');
    await once(good, 'listening');
    const chance = new Chance(SEED);
    upstreams.push(await faultyHttp1(), await faultyHttp2(chance), await faultyTcp(chance));
    const [http1, http2, tcp] = upstreams.map(({ address }) => address);
    const authority = testAuthority('servers');
    ca = authority.cert;
    const pair = authority.issue('a.test', SERVER('a.test', 't.test'));
    const at = `127.0.0.1:${(good.address() as AddressInfo).port}`;
    edge = createEdge(configOf({ http1: http1!, http2: http2!, tcp: tcp!, good: at }, pair), {
      onEvent: ({ object }, explain) => {
        const id = /id=(\d+)/.exec(JSON.stringify(object.http.request))?.[1] ?? 'none';
        events.set(id, (events.get(id) ?? 0) + 1);
        const { code } = explain().decidedBy;
        reasons.set(code, (reasons.get(code) ?? 0) + 1);
      },
      onConnection: () => void streams++,
    });
    const short = {
      bodyIdleMs: 400,
      writeIdleMs: 400,
      keepAliveMs: 20_000,
      lingerMs: 200,
      tunnelIdleMs: 400,
    };
    listening = await edge.listen({
      limits: { ...short, headMs: 400 },
      upstreamLimits: { headMs: 400, bodyIdleMs: 400 },
      streamLimits: { idleMs: 400, handshakeMs: 1_000 },
      tcp: { ports: { [PG]: 0 } },
      tls: { port: 0 },
    });
  });

  afterAll(async () => {
    process.off('warning', onWarning);
    await listening.close(0);
    for (const upstream of upstreams) await upstream.close();
    good.closeAllConnections();
    good.close();
  });

  let ids = 0;
  function caseOf(chance: Chance): { script: Script; to: Target; ids: readonly string[] } {
    const isTls = chance.is(0.3);
    const [scheme, port] = isTls ? ['https', listening.tlsPort!] : ['http', listening.port];
    const own: string[] = [];
    const target = (path: string): string => {
      const id = String(++ids);
      own.push(id);
      const [shape, fault] = [chance.one(SHAPES), chance.one(UPSTREAM_FAULTS)];
      return `${path}/x?id=${id}&shape=${shape}&fault=${fault}&at=${chance.below(4)}&gap=${chance.below(3)}`;
    };
    const some = (): string[] => Array.from({ length: 1 + chance.below(3) }, () => target(chance.one(PATHS)));
    const to = (protocol: string, name = 'a.test'): Target => ({
      port,
      tls: isTls ? { name, protocol, ca } : null,
    });
    const kind = chance.below(7);
    if (kind < 2) return { script: http1Script(some(), chance), to: to('http/1.1'), ids: own };
    if (kind < 4) return { script: http2Script(some(), chance, scheme), to: to('h2'), ids: own };
    const path = chance.one(['/bytes', '/plain', '/http2']);
    if (kind === 4) return { script: webSocketScript(target(path)), to: to('http/1.1'), ids: own };
    if (kind === 5)
      return { script: http2WebSocketScript(target(path), chance, scheme), to: to('h2'), ids: own };
    if (isTls) return { script: tcpScript(), to: to('', 't.test'), ids: own };
    return { script: tcpScript(), to: { port: tcpPort(), tls: null }, ids: own };
  }

  const tcpPort = (): number => listening.ports().find(({ kind }) => kind === 'tcp')!.listensOn;

  /** Responses other than 200, until `isOver` returns true. */
  async function goodTraffic(isOver: () => boolean): Promise<string[]> {
    const bad: string[] = [];
    const session = connectHttp2(listening.url);
    session.on('error', (error) => void bad.push(String(error)));
    let count = 0;
    while (!isOver()) {
      const path = `/good/x?id=${++ids}`;
      const status = count++ % 2 === 0 ? await overHttp1(path) : await overHttp2(path);
      if (status !== 200) bad.push(`${path}: ${status}`);
      await pause(2);
    }
    session.close();
    expect(count).toBeGreaterThan(CASES / 20);
    return bad;

    function overHttp1(path: string): Promise<number | undefined> {
      return new Promise((resolve) => {
        const { port } = listening;
        getHttp({ port, host: '127.0.0.1', path, headers: { host: 'a.test' } }, (response) => {
          response
            .resume()
            .on('end', () => resolve(response.statusCode))
            .on('close', () => resolve(-1));
        }).on('error', (error) => {
          bad.push(`HTTP/1.1: ${error}`);
          resolve(0);
        });
      });
    }

    function overHttp2(path: string): Promise<number> {
      return new Promise((resolve) => {
        const stream = session.request({ ':path': path, ':authority': 'a.test' });
        stream
          .on('response', (given) => resolve(Number(given[':status'])))
          .on('error', (error) => {
            bad.push(`HTTP/2: ${error}`);
            resolve(0);
          });
        stream.resume().on('close', () => resolve(0));
      });
    }
  }

  it(
    `${CASES} cases: no fault of ours, one event each, and good traffic beside them is served`,
    async () => {
      let isOver = false;
      const traffic = goodTraffic(() => isOver);
      const silent: string[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < CASES) {
          const chance = new Chance(SEED + next++);
          const { script, to, ids: own } = caseOf(chance);
          const got = await play(script, to, chance);
          // Each response has its event: the first request of a connection is identified by its status line.
          if (/^HTTP\/1\.1 [23]/.test(got) && own.length > 0) silent.push(own[0]!);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      isOver = true;
      expect(await traffic).toEqual([]);
      // Every exchange ends by itself.
      await expect.poll(() => silent.filter((id) => !events.has(id))).toEqual([]);
      expect([...events].filter(([id, count]) => count > 1 && /^\d+$/.test(id))).toEqual([]);
      expect(reasons.get('engine.bug') ?? 0).toBe(0);
      expect(faults).toEqual([]);
      expect(streams).toBeGreaterThan(CASES / 50);
      expect(await listening.close(5_000)).toEqual({ cut: 0 });
      await expect.poll(() => upstreams.map(({ open }) => open)).toEqual([0, 0, 0]);
    },
    CASES * 200,
  );
});
