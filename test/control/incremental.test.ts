import { describe, expect, it } from 'vitest';
import { validationCache } from '../../src/edge/document/validation_cache.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { type EdgeOfFile, type UsableConfig, edgeOf } from '../../src/edgeproof.ts';
import type { ResourceObject } from '../../src/control/resources/contract.ts';
import { type Touched, edgeObjects } from '../../src/control/api/edge_objects.ts';
import { edgeChange, wholeDocument } from '../../src/control/api/edge_slice.ts';
import { planeOf, usableDocument } from '../../src/control/data_plane.ts';
import { EDGE_KINDS, servedConfig } from '../../src/control/resources/edge_document.ts';
import { referencesIn } from '../../src/control/resources/parse.ts';
import { resourceOfKind } from '../../src/control/resources/table.ts';
import { currentSecrets } from '../../src/control/vault_secrets.ts';
import { runs, seeded } from '../random.ts';
import { authorityNamed } from './certificates.ts';

/** Steps of the walk. */
const STEPS = runs(1_000, 40);
const OPTIONS = { clock: () => 1_700_000_000_000, random: () => 0.3 };

type Objects = ReadonlyMap<string, ResourceObject>;
type Draw = <Item>(items: readonly Item[]) => Item;

const PATHS = ['/', '/a', '/a/b', '/c', '/login'];
const HOSTS = ['one.test', 'two.test', 'x.three.test', 'pool.test'];
const AUTHORITIES = [authorityNamed('one').pem, authorityNamed('two').pem];
const CLIENTS = ['10.1.1.1', '10.2.1.1', '192.0.2.9'];
const RANGES = ['10.0.0.0/8', '10.1.0.0/16', '10.2.0.0/16', '192.0.2.0/24'];

const policyText = (policy: string): string =>
  JSON.stringify({
    on_http_request: [
      {
        expressions: ["req.url.path.startsWith('/a')"],
        actions: [{ type: 'restrict-ips', config: { ip_policies: [policy], enforce: true } }],
      },
    ],
  });

/** Modules that a route may have; some are sometimes invalid, or name deleted objects. */
function someModule(draw: Draw, policy: string): object {
  return draw([
    { ip_restriction: { enabled: true, ip_policy_ids: [policy] } },
    { traffic_policy: { enabled: true, value: policyText(policy) } },
    { user_agent_filter: { enabled: true, allow: [], deny: [draw(['^x', 'bot', '('])] } },
    { request_headers: { enabled: true, add: { [draw(['x-a', 'host:'])]: 'b' }, remove: [] } },
    { compression: { enabled: draw([true, false]) } },
    { webhook_verification: { enabled: true, provider: 'github', secret: 'abc' } },
    {
      oidc: {
        enabled: true,
        issuer: 'https://idp.test',
        client_id: 'a',
        client_secret: 'b',
        scopes: ['openid'],
      },
    },
  ]);
}

/** One change to the objects, as a request would make it; most are sound. */
function changed(objects: Objects, draw: Draw, count: number): Objects {
  const next = new Map(objects);
  const ids = (kind: string): string[] =>
    Array.from(objects.values()).flatMap((each) => (each.kind.endsWith(kind) ? [each.id] : []));
  const put = (kind: string, id: string, body: object, parent: string | null = null): void =>
    void next.set(id, { id, kind, parent, body: body as ResourceObject['body'] });
  const policy = draw([...ids('ip_policy'), 'ipp_gone']);
  const routes = ids('https_edge_route');
  const route = objects.get(draw(['', ...routes]));
  const kinds = ['route', 'route', 'module', 'module', 'unmodule', 'rule', 'rule', 'other', 'remove'];
  switch (draw([...kinds, 'address', 'endpoint', 'backend'])) {
    case 'address':
      putAddress(put, draw);
      break;
    case 'endpoint':
      putEndpoint(put, draw);
      break;
    case 'backend': {
      const weights = draw([{ bkdhr_1: 1 }, { bkdhr_1: 1, bkdhr_2: 2 }, { bkdsb_1: 1 }]);
      put('weighted_backend', 'bkdwd_1', { backends: weights });
      put('static_backend', 'bkdsb_1', {
        address: draw(['localhost:1', 'localhost:2']),
        tls: { enabled: false },
      });
      break;
    }
    case 'route': {
      const backend_id = draw(ids('backend'));
      const match = draw([...PATHS, 'one.test/x', 'https://x']);
      const body = { match_type: 'path_prefix', match, backend: { enabled: true, backend_id } };
      put('https_edge_route', `edghtsrt_${count}`, body, draw(ids('https_edge')));
      break;
    }
    case 'module':
      if (route !== undefined)
        put(route.kind, route.id, { ...route.body, ...someModule(draw, policy) }, route.parent);
      break;
    case 'unmodule':
      if (route !== undefined) {
        const { match_type, match, backend } = route.body;
        put(route.kind, route.id, { match_type, match, backend }, route.parent);
      }
      break;
    case 'rule':
      if (policy !== 'ipp_gone') {
        // Few are denied, or soon all would be.
        const denied = { cidr: '10.1.1.1/32', action: 'deny' };
        const rule = draw([...RANGES.map((cidr) => ({ cidr, action: 'allow' })), denied]);
        put('ip_policy_rule', `ipr_${count}`, { ...rule, ip_policy_id: policy }, policy);
      }
      break;
    case 'other':
      put('ip_policy', `ipp_${draw([1, 2, 3])}`, {});
      put('http_response_backend', draw(['bkdhr_1', 'bkdhr_2']), {
        status_code: 200 + draw([0, 1, 2]),
        headers: {},
      });
      put('https_edge', 'edghts_2', {
        hostports: [`${draw(['two', 'one', 'three'])}.test:443`],
        ...draw([{}, { tls_termination: { enabled: true, min_version: draw(['1.2', '1.3']) } }]),
      });
      break;
    default: {
      const edges = ['tls_edge', 'endpoint'].flatMap((kind) => ids(kind));
      const gone = draw([...routes, ...ids('ip_policy_rule'), ...ids('ip_policy'), ...edges]);
      for (const { id, parent } of objects.values()) if (id === gone || parent === gone) next.delete(id);
    }
  }
  return next;
}

type Put = (kind: string, id: string, body: object) => void;

/** An edge whose names, TLS settings or authorities change. */
function putAddress(put: Put, draw: Draw): void {
  put('certificate_authority', 'ca_1', { ca_pem: draw([AUTHORITIES[0]!, AUTHORITIES[1]!]) });
  const number = draw([1, 2]);
  const mutual = { mutual_tls: { enabled: true, certificate_authority_ids: ['ca_1'] } };
  const termination = { terminate_at: draw(['edge', 'upstream']), min_version: draw(['1.2', '1.3']) };
  put('tls_edge', `edgtls_${number}`, {
    hostports: draw([[`t${number}.test:443`], [`*.t${number}.test:443`, `t${number}.test:8443`]]),
    backend: { enabled: true, backend_id: draw(['bkdsb_1', 'bkdwd_1']) },
    tls_termination: { enabled: true, ...termination },
    ...draw([{}, termination.terminate_at === 'edge' ? mutual : {}]),
  });
  put('https_edge', 'edghts_3', {
    hostports: [`${draw(['x', '*', 'y'])}.three.test:443`],
    ...draw([{}, mutual]),
  });
}

/** One of some endpoints that share a host. */
function putEndpoint(put: Put, draw: Draw): void {
  const respond = { type: 'custom-response', config: { status_code: 200 + draw([0, 1, 2, 3]) } };
  put('endpoint', `ep_${draw([1, 2, 3])}`, {
    url: `https://${draw(['pool.test', 'pool.test', 'one.pool.internal'])}`,
    pooling_enabled: true,
    traffic_policy: JSON.stringify({ on_http_request: [{ actions: [respond] }] }),
  });
}

/** What handshakes and connections find at some addresses. */
function addresses(edge: EdgeOfFile): unknown[] {
  const { handshakes, streams, tables } = edge.runtime.current();
  const names = ['t1.test', 'a.t1.test', 't2.test', 'x.three.test', 'one.test', 'pool.test', ''];
  const found = names.flatMap((name) =>
    [443, 8443].map((port) => [
      handshakes.find(name, port),
      streams.find('tls', name, port)?.map((each) => [each.name, each.pipeline.pointer]) ?? null,
    ]),
  );
  return [...found, handshakes.ports, [...tables.tcpAddresses.keys()].sort()];
}

function start(): Objects {
  const object = (kind: string, id: string, body: object): [string, ResourceObject] => [
    id,
    { id, kind, parent: null, body: body as ResourceObject['body'] },
  ];
  return new Map([
    object('ip_policy', 'ipp_1', {}),
    object('ip_policy', 'ipp_2', {}),
    object('http_response_backend', 'bkdhr_1', { status_code: 200, headers: {} }),
    object('http_response_backend', 'bkdhr_2', { status_code: 201, headers: {} }),
    object('weighted_backend', 'bkdwd_1', { backends: { bkdhr_1: 1, bkdhr_2: 2 } }),
    object('https_edge', 'edghts_1', { hostports: ['one.test:443'] }),
    object('https_edge', 'edghts_2', { hostports: ['two.test:443'] }),
    object('static_backend', 'bkdsb_1', { address: 'localhost:1', tls: { enabled: false } }),
    object('certificate_authority', 'ca_1', { ca_pem: AUTHORITIES[0]! }),
    object('ip_restriction', 'ipx_1', { type: 'endpoints', enforced: false, ip_policy_ids: ['ipp_1'] }),
  ]);
}

/** What an edge does with every request of a small world. */
function behaviour(edge: EdgeOfFile): unknown[] {
  return HOSTS.flatMap((host) =>
    PATHS.flatMap((path) =>
      CLIENTS.map((clientIp) => {
        const headers: [string, string][] = [['user-agent', 'xbot']];
        const { status, backend, trace } = edge.decide(
          { method: 'GET', url: `https://${host}${path}`, headers },
          { clientIp },
        );
        return { host, path, clientIp, status, backend, trace };
      }),
    ),
  );
}

const inOrder = (objects: Objects): ResourceObject[] =>
  EDGE_KINDS.flatMap((kind) =>
    [...objects.values()].filter((each) => each.kind === kind).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );

const SURROUNDINGS = { service: 'service', settings: {} };
const wholeOf = (objects: readonly ResourceObject[]) => wholeDocument(edgeObjects(objects), SURROUNDINGS);

/** Whether the store would take the objects: what they refer to exists, and what is claimed has one owner. */
function areConsistent(objects: Objects): boolean {
  const claims = new Set<string>();
  for (const { id, kind, body, parent } of objects.values()) {
    const resource = resourceOfKind(kind);
    if (parent !== null && !objects.has(parent)) return false;
    if (referencesIn(resource, body).some((use) => !objects.has(use.id))) return false;
    for (const { space, value } of resource.claims?.(body) ?? []) {
      const claim = `${space} ${value}`;
      if (claims.has(claim)) return false;
      claims.add(claim);
    }
    if (id !== objects.get(id)!.id) return false;
  }
  return true;
}

function touchedBetween(before: Objects, next: Objects): Touched[] {
  const gone = [...before.values()].filter(({ id }) => !next.has(id));
  const put = [...next.values()].filter((each) => before.get(each.id) !== each);
  return [
    ...gone.map((object) => ({ object, isGone: true })),
    ...put.map((object) => ({ object, isGone: false })),
  ];
}

describe('incremental configurations', () => {
  it.each([false, true])(
    `equal configurations built from scratch, ${STEPS} times (restricted: %s)`,
    (enforced) => {
      const random = seeded(enforced ? 7 : 5);
      const draw: Draw = (items) => items[Math.floor(random() * items.length)]!;
      let objects: Objects = new Map(
        [...start()].map(([id, object]) => [
          id,
          id === 'ipx_1' ? { ...object, body: { ...object.body, enforced } } : object,
        ]),
      );
      const kept = edgeObjects(inOrder(objects));
      const document = wholeDocument(kept, SURROUNDINGS);
      const first = usableDocument(document);
      const edge = edgeOf(first, OPTIONS);
      const plane = planeOf(edge, first, currentSecrets(document));
      const seen = { sound: 0, refused: 0, partial: 0, undone: 0 };
      for (let step = 0; step < STEPS; step++) {
        const next = changed(objects, draw, step);
        if (!areConsistent(next)) continue;
        const { change, takeBack } = edgeChange(kept, touchedBetween(objects, next), SURROUNDINGS);
        const { findings, revert } = plane.swap(change);
        if (change.changed !== null) seen.partial++;
        // Nothing is cached for copies.
        const copied = wholeOf(structuredClone(inOrder(next)));
        const fresh = checkWholeEdge({ value: copied.value }, { endpoints: copied.endpoints, places: false });
        const errors = (each: typeof findings) => each.filter(({ severity }) => severity === 'error');
        expect(errors(findings)).toEqual(errors(fresh.diagnostics));
        const isUndone = fresh.config !== null && draw([true, false, false, false, false]);
        if (fresh.config === null || isUndone) {
          revert();
          takeBack();
          if (isUndone) seen.undone++;
          else seen.refused++;
        } else {
          objects = next;
          seen.sound++;
        }
        const anew = edgeOf(usableDocument(wholeOf(structuredClone(inOrder(objects)))), OPTIONS);
        expect(edge.config).toEqual(anew.config);
        expect(behaviour(edge)).toEqual(behaviour(anew));
        expect(addresses(edge)).toEqual(addresses(anew));
      }
      // The walk went all ways, or it shows nothing.
      expect(seen.sound).toBeGreaterThan(STEPS / 4);
      expect(seen.refused).toBeGreaterThan(STEPS / 40);
      expect(seen.undone).toBeGreaterThan(STEPS / 40);
      expect(seen.partial).toBeGreaterThan(STEPS / 2);
    },
  );
});

describe('a route that a write does not change', () => {
  const object = (kind: string, id: string, body: object, parent: string | null = null): ResourceObject => ({
    id,
    kind,
    parent,
    body: body as ResourceObject['body'],
  });
  const route = (name: string) =>
    object(
      'https_edge_route',
      `edghtsrt_${name}`,
      {
        match_type: 'path_prefix',
        match: `/${name}`,
        backend: { enabled: true, backend_id: 'bkdhr_1' },
        circuit_breaker: {
          enabled: true,
          tripped_duration: 10,
          rolling_window: 10,
          num_buckets: 10,
          volume_threshold: 1,
          error_threshold_percentage: 0.1,
        },
      },
      'edghts_1',
    );
  const first = object('http_response_backend', 'bkdhr_1', { status_code: 200, headers: {} });
  const around = [first, object('https_edge', 'edghts_1', { hostports: ['one.test:443'] })];

  it('is not compiled again at any position in its edge, and is found by its id', () => {
    const known = validationCache();
    const usable = (objects: readonly ResourceObject[], settings: object = {}): UsableConfig => {
      const document = wholeDocument(edgeObjects(objects), { service: 'service', settings });
      const checked = checkWholeEdge({ value: document.value }, { cache: known });
      return { ...checked, config: servedConfig(checked.config!, document) };
    };
    const [one, two] = [route('one'), route('two')];
    const edge = edgeOf(usable([...around, one, two]), OPTIONS);
    const pipelineOf = (path: string) =>
      edge.runtime.current().hosts.find('one.test')![0]!.router.find('one.test', path);
    const before = pipelineOf('/two');
    expect(before!.pointer).toBe('/edges/https/edghts_1/routes/edghtsrt_two');

    edge.swapTo(usable([...around, two]));
    expect(pipelineOf('/two')).toBe(before);
    expect(pipelineOf('/one')).toBeNull();
    edge.swapTo(usable([...around, two, route('three')]));
    expect(pipelineOf('/two')).toBe(before);
    // Facts of an applied file are compiled once, and do not touch it.
    const facts = [{ cidr: '10.0.0.0/8', as: { number: 1 } }];
    edge.swapTo(usable([...around, two], { facts }));
    const withFacts = pipelineOf('/two');
    edge.swapTo(usable([...around, two, route('four')], { facts }));
    expect(pipelineOf('/two')).toBe(withFacts);
    // Of a route that changes, the modules that do not are compiled once; their states are of the new match.
    const moved = { ...two, body: { ...two.body, match: '/moved' } };
    edge.swapTo(usable([...around, moved], { facts }));
    const [atTwo, atMoved] = [withFacts!.filters[0]!, pipelineOf('/moved')!.filters[0]!];
    expect([atMoved.module, atMoved.onRequest === atTwo.onRequest]).toEqual(['circuit_breaker', true]);
    expect(atMoved.state).not.toBe(atTwo.state);
    edge.swapTo(usable([...around, two]));
    const led = pipelineOf('/two');
    // Its target is a part of it; its state is kept nevertheless.
    const other = object('http_response_backend', 'bkdhr_1', { status_code: 201, headers: {} });
    edge.swapTo(usable([other, ...around.slice(1), two]));
    const after = pipelineOf('/two')!;
    expect(after).not.toBe(led);
    expect(after.filters[0]!.state).toBe(led!.filters[0]!.state);
    expect(edge.decide({ method: 'GET', url: 'https://one.test/two' }).status).toBe(201);
  });
});
