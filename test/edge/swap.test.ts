import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEdge, type Edge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { type Kind, kindsOf, type Proof } from './swap_traffic.ts';
import { after, type NamedUpstreams, namedUpstreams } from './swap_upstreams.ts';
import { runs } from '../random.ts';

const SWAPS = runs(400);
/** Concurrent exchanges of each kind. */
const AT_ONCE = 3;

describe(`${SWAPS} swaps under traffic of every kind`, () => {
  let upstreams: readonly NamedUpstreams[];
  let edge: Edge;
  let listening: Listening;
  let target: Parameters<typeof kindsOf>[0];
  let certificate: { certificate_pem: string; private_key_pem: string };
  let revision = 0;
  const events = { requests: 0, connections: 0 };
  const problems: string[] = [];

  /**
   * Revisions alternate between two sets of upstreams and have different headers; ports of TCP edges are added and
   * removed.
   */
  const configOf = (number: number): object => {
    const { http, grpc, tcp, tls } = upstreams[number % 2]!;
    const stamp = { add: { 'x-revision': `r${number}` } };
    const route = { match_type: 'path_prefix', request_headers: stamp, response_headers: stamp };
    return {
      backends: {
        http: { static: { address: http } },
        grpc: { static: { address: grpc, protocol: 'http2' } },
        tcp: { static: { address: tcp } },
        tls: { static: { address: tls } },
      },
      tls_certificates: { site: certificate },
      edges: {
        https: {
          site: {
            hostports: ['swap.test:443'],
            routes: [
              { ...route, match: '/test.Swap', backend: { backend_id: 'grpc' } },
              { ...route, match: '/tcp', websocket_tcp_converter: {}, backend: { backend_id: 'tcp' } },
              { ...route, match: '/', backend: { backend_id: 'http' } },
            ],
          },
        },
        tcp: {
          db: { hostports: ['1.tcp.test:5432'], backend: { backend_id: 'tcp' } },
          ...(number % 5 === 0 && {
            more: { hostports: ['2.tcp.test:5433'], backend: { backend_id: 'tcp' } },
          }),
        },
        tls: {
          pass: {
            hostports: ['pass.test:443'],
            tls_termination: { terminate_at: 'upstream' },
            backend: { backend_id: 'tls' },
          },
        },
      },
    };
  };

  beforeAll(async () => {
    const authority = testAuthority('swap');
    const site = authority.issue('swap.test', SERVER('swap.test'));
    const inner = authority.issue('pass.test', SERVER('pass.test'));
    certificate = { certificate_pem: site.cert, private_key_pem: site.key };
    upstreams = await Promise.all(['0', '1'].map((name) => namedUpstreams(name, inner)));
    edge = createEdge(configOf(0), {
      onEvent: () => void events.requests++,
      onConnection: () => void events.connections++,
    });
    listening = await edge.listen({
      tls: {},
      tcp: { ports: { '1.tcp.test:5432': 0, '2.tcp.test:5433': 0 } },
      say: (text) => problems.push(text),
    });
    const tcpPort = listening.ports().find(({ host }) => host === '1.tcp.test')!.listensOn;
    target = { port: listening.port, tlsPort: listening.tlsPort!, tcpPort, ca: authority.cert };
  });

  afterAll(async () => {
    await listening.close(0);
    for (const each of upstreams) each.close();
  });

  it('drops nothing, changes no byte and mixes no configurations', async () => {
    const { kinds, close } = kindsOf(target);
    const count: Record<string, number> = {};
    const across: Record<string, number> = {};
    let number = 0;
    let isOver = false;

    const loop = async (name: string, kind: Kind): Promise<void> => {
      while (!isOver) {
        const from = revision;
        try {
          const wrong = mixed(await kind(++number), from, revision);
          if (wrong !== null) problems.push(`${name}: ${wrong}`);
        } catch (error) {
          problems.push(`${name}: ${String(error)}`);
        }
        count[name] = (count[name] ?? 0) + 1;
        if (revision > from) across[name] = (across[name] ?? 0) + 1;
      }
    };
    const loops = Object.entries(kinds).flatMap(([name, kind]) =>
      Array.from({ length: AT_ONCE }, () => loop(name, kind)),
    );
    for (let swap = 1; swap <= SWAPS; swap++) {
      await after(10);
      revision = swap;
      edge.swap(configOf(swap));
    }
    isOver = true;
    await Promise.all(loops);

    expect(problems).toEqual([]);
    const names = Object.keys(kinds);
    expect(Object.keys(across).toSorted()).toEqual(names.toSorted());
    // Most exchanges were in flight while the configuration changed.
    for (const name of names) expect(across[name]! / count[name]!).toBeGreaterThan(0.5);
    const isRaw = (name: string): boolean => name === 'tcp' || name === 'tls_passed';
    const sum = (some: readonly string[]): number => some.reduce((total, name) => total + count[name]!, 0);
    await expect
      .poll(() => events)
      .toEqual({
        requests: sum(names.filter((name) => !isRaw(name))),
        connections: sum(names.filter(isRaw)),
      });
    close();
  });

  it('leaves no connection to removed upstreams', async () => {
    await expect.poll(() => upstreams[(SWAPS + 1) % 2]!.open()).toBe(0);
  });
});

/** The fault of an exchange that began in one revision and ended in another; null if there is none. */
function mixed({ revision, seen, upstream }: Proof, from: number, to: number): string | null {
  const told = JSON.stringify({ revision, seen, upstream, from, to });
  if (revision === null) return from === to && upstream !== String(from % 2) ? told : null;
  const number = Number(revision.slice(1));
  if (!(number >= from && number <= to)) return told;
  if (upstream !== String(number % 2)) return told;
  return seen === null || seen === revision ? null : told;
}
