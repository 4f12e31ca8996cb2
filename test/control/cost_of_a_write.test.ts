import { describe, expect, it } from 'vitest';
import { edgeChange, wholeDocument } from '../../src/control/api/edge_slice.ts';
import { type Touched, edgeObjects } from '../../src/control/api/edge_objects.ts';
import { planeOf, usableDocument } from '../../src/control/data_plane.ts';
import type { ResourceObject } from '../../src/control/resources/contract.ts';
import { currentSecrets } from '../../src/control/vault_secrets.ts';
import { edgeOf } from '../../src/edgeproof.ts';
import { runs } from '../random.ts';
import { visitsOf } from '../visits.ts';

const SURROUNDINGS = { service: 'service', settings: {} };
const OPTIONS = { clock: () => 1_700_000_000_000, random: () => 0.3 };

function object(kind: string, id: string, body: object, parent: string | null = null): ResourceObject {
  return { id, kind, parent, body: body as ResourceObject['body'] };
}

const padded = (number: number): string => String(number).padStart(6, '0');
const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
const range = (number: number): string => `${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}.0/24`;

function rule(number: number): ResourceObject {
  const body = { cidr: range(number), action: 'allow', ip_policy_id: 'ipp_1' };
  return object('ip_policy_rule', `ipr_${padded(number)}`, body, 'ipp_1');
}

function route(number: number, match = '/', further: object = {}): ResourceObject {
  const backend = { enabled: true, backend_id: `bkdhr_${padded(number)}` };
  const body = { match_type: 'path_prefix', match, backend, ...further };
  return object('https_edge_route', `edghtsrt_${padded(number)}${match}`, body, `edghts_${padded(number)}`);
}

const backend = (number: number, status = 200): ResourceObject =>
  object('http_response_backend', `bkdhr_${padded(number)}`, { status_code: status, headers: {} });

const RESTRICTED = { ip_restriction: { enabled: true, ip_policy_ids: ['ipp_1'] } };
const BREAKER = {
  circuit_breaker: {
    enabled: true,
    tripped_duration: 10,
    rolling_window: 10,
    num_buckets: 10,
    volume_threshold: 1,
    error_threshold_percentage: 0.1,
  },
};

/** A configuration of many edges with a route and a backend each, and an IP policy of many rules. */
function running(edges: number, rules: number, further: readonly ResourceObject[] = []) {
  const objects = edgeObjects([
    object('ip_policy', 'ipp_1', {}),
    ...numbers(rules).map(rule),
    ...numbers(edges).map((number) => backend(number)),
    ...numbers(edges).map((number) =>
      object('https_edge', `edghts_${padded(number)}`, { hostports: [`e${number}.test:443`] }),
    ),
    ...numbers(edges).map((number) => route(number, '/', number === 0 ? RESTRICTED : BREAKER)),
    ...numbers(edges).map((number) =>
      object('tls_edge', `edgtls_${padded(number)}`, {
        hostports: [`t${number}.test:443`],
        backend: { enabled: true, backend_id: 'bkdsb_1' },
      }),
    ),
    object('static_backend', 'bkdsb_1', { address: 'localhost:1', tls: { enabled: false } }),
    ...further,
  ]);
  const document = wholeDocument(objects, SURROUNDINGS);
  const first = usableDocument(document);
  const edge = edgeOf(first, OPTIONS);
  const plane = planeOf(edge, first, currentSecrets(document));
  const write = (...touched: Touched[]) => {
    const { change } = edgeChange(objects, touched, SURROUNDINGS);
    expect(plane.swap(change).findings).toEqual([]);
  };
  const statusOf = (url: string, clientIp = '1.0.0.1') =>
    edge.decide({ method: 'GET', url }, { clientIp }).status;
  return { edge, write, statusOf };
}

type Running = ReturnType<typeof running>;

const put = (changed: ResourceObject): Touched => ({ object: changed, isGone: false });

/** Writes that concern one edge, with what they change. */
const WRITES: readonly (readonly [name: string, write: (here: Running) => void, edges: readonly string[]])[] =
  [
    ['one more route', ({ write }) => write(put(route(7, '/more'))), ['https edghts_000007']],
    [
      'one more edge',
      ({ write }) =>
        write(
          put(object('https_edge', 'edghts_new', { hostports: ['new.test:443'] })),
          put(object('https_edge_route', 'edghtsrt_new', { ...route(7).body, match: '/' }, 'edghts_new')),
        ),
      ['https edghts_new'],
    ],
    ['another backend', ({ write }) => write(put(backend(7, 201))), ['https edghts_000007']],
    [
      'an edge less',
      ({ write }) =>
        write(
          { object: route(7), isGone: true },
          {
            object: object('https_edge', 'edghts_000007', { hostports: ['e7.test:443'] }),
            isGone: true,
          },
        ),
      ['https edghts_000007'],
    ],
    ['one more rule', ({ write }) => write(put(rule(999_999))), ['https edghts_000000']],
    ['a rule less', ({ write }) => write({ object: rule(5), isGone: true }), ['https edghts_000000']],
  ];

/** Restricts all endpoints to the addresses of a policy that no write changes. */
const OF_ACCOUNT = [
  object('ip_policy', 'ipp_account', {}),
  object('ip_policy_rule', 'ipr_account', { cidr: '0.0.0.0/0', action: 'allow' }, 'ipp_account'),
  object('ip_restriction', 'ipx_1', { type: 'endpoints', enforced: true, ip_policy_ids: ['ipp_account'] }),
];

const CASES = WRITES.flatMap(([name, write, edges]) => [
  [name, [], write, edges] as const,
  [`${name}, with a restriction of all endpoints`, OF_ACCOUNT, write, edges] as const,
]);

describe.each(CASES)('%s', (_name, further, write, edges) => {
  it('compiles what it concerns, and visits no more in a configuration that is ten times as large', () => {
    const visits = [1, 10].map((times) => {
      const here = running(times * runs(200, 60), times * runs(10_000, 1_000), further);
      const before = here.edge.runtime.current();
      // What is made once, such as the names of all policies, is made by the first write.
      here.write(put(route(3, '/first')));
      const former = here.edge.runtime.current();
      const count = visitsOf(() => write(here));
      const now = here.edge.runtime.current();
      expect([...now.tables.edges.changedKeys(former.tables.edges)]).toEqual(edges);
      // An exchange that has begun keeps the configuration that it began with.
      expect(before.tables.edges.get('https edghts_000003')).not.toBe(
        now.tables.edges.get('https edghts_000003'),
      );
      return count;
    });
    expect(visits[0]).toBeGreaterThan(20);
    expect(visits[1]).toBeLessThan(visits[0]! * 2);
  });
});

it('a route is checked with its own edge only', () => {
  const objects = edgeObjects([
    ...[1, 2].map((number) => backend(number)),
    ...[1, 2].map((number) =>
      object('https_edge', `edghts_${padded(number)}`, { hostports: [`e${number}.test:443`] }),
    ),
    ...[1, 2].map((number) => route(number)),
  ]);
  const { change } = edgeChange(objects, [put(route(2, '/more'))], SURROUNDINGS);
  const { edges, backends } = change.document.value as { edges: { https: object }; backends: object };
  expect([Object.keys(edges.https), Object.keys(backends)]).toEqual([['edghts_000002'], ['bkdhr_000002']]);
});

it('a backend that is written with a route that uses it is checked with all that use it', () => {
  const objects = edgeObjects([
    object('static_backend', 'bkdsb_1', { address: 'localhost:1', tls: { enabled: false } }),
    object('weighted_backend', 'bkdwd_1', { backends: { bkdsb_1: 1 } }),
    object('tls_edge', 'edgtls_1', {
      hostports: ['t.test:443'],
      backend: { enabled: true, backend_id: 'bkdwd_1' },
    }),
    object('https_edge', 'edghts_1', { hostports: ['e.test:443'] }),
  ]);
  const backendOf = { enabled: true, backend_id: 'bkdsb_1' };
  const added = { match_type: 'path_prefix', match: '/', backend: backendOf };
  const changed = object('static_backend', 'bkdsb_1', { address: 'localhost:2', tls: { enabled: false } });
  const { change } = edgeChange(
    objects,
    [put(object('https_edge_route', 'edghtsrt_1', added, 'edghts_1')), put(changed)],
    SURROUNDINGS,
  );
  const { edges } = change.document.value as { edges: { tls: object; https: object } };
  expect([Object.keys(edges.https), Object.keys(edges.tls)]).toEqual([['edghts_1'], ['edgtls_1']]);
  expect(Object.keys(change.document.value['backends'] as object).sort()).toEqual(['bkdsb_1', 'bkdwd_1']);
});
