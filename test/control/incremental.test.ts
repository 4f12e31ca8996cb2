import { describe, expect, it } from 'vitest';
import { validationCache } from '../../src/edge/document/validation_cache.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { type EdgeOfFile, type UsableConfig, edgeOf } from '../../src/edgeproof.ts';
import { type EdgeObject, edgeDocument, servedConfig } from '../../src/control/resources/edge_document.ts';
import { runs, seeded } from '../random.ts';

/** Steps of the walk. */
const STEPS = runs(1_000, 100);
const OPTIONS = { clock: () => 1_700_000_000_000, random: () => 0.3 };

type Objects = ReadonlyMap<string, EdgeObject>;
type Draw = <Item>(items: readonly Item[]) => Item;

/** Kinds in the order in which the API hands them over. */
const ORDER = ['ip_policy', 'ip_policy_rule', 'backend', 'https_edge', 'https_edge_route', 'tcp_edge'];
const PATHS = ['/', '/a', '/a/b', '/c', '/login'];
const HOSTS = ['one.test', 'two.test'];
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

/** Modules that a route may have; some of them are wrong now and then, or name what is gone. */
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
    void next.set(id, { id, kind, parent, body: body as EdgeObject['body'] });
  const policy = draw([...ids('ip_policy'), 'ipp_gone']);
  const routes = ids('https_edge_route');
  const route = objects.get(draw(['', ...routes]));
  switch (draw(['route', 'route', 'module', 'module', 'unmodule', 'rule', 'rule', 'other', 'remove'])) {
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
      const gone = draw([...routes, ...ids('ip_policy_rule'), ...ids('ip_policy')]);
      for (const { id, parent } of objects.values()) if (id === gone || parent === gone) next.delete(id);
    }
  }
  return next;
}

function start(): Objects {
  const object = (kind: string, id: string, body: object): [string, EdgeObject] => [
    id,
    { id, kind, parent: null, body: body as EdgeObject['body'] },
  ];
  return new Map([
    object('ip_policy', 'ipp_1', {}),
    object('ip_policy', 'ipp_2', {}),
    object('http_response_backend', 'bkdhr_1', { status_code: 200, headers: {} }),
    object('http_response_backend', 'bkdhr_2', { status_code: 201, headers: {} }),
    object('weighted_backend', 'bkdwd_1', { backends: { bkdhr_1: 1, bkdhr_2: 2 } }),
    object('https_edge', 'edghts_1', { hostports: ['one.test:443'] }),
    object('https_edge', 'edghts_2', { hostports: ['two.test:443'] }),
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

const listed = (objects: Objects): EdgeObject[] =>
  Array.from(objects.values()).toSorted(
    (one, other) =>
      ORDER.findIndex((kind) => one.kind.endsWith(kind)) -
      ORDER.findIndex((kind) => other.kind.endsWith(kind)),
  );

describe('incremental configurations', () => {
  it.each([false, true])(
    `equal configurations built from scratch, ${STEPS} times (restricted: %s)`,
    (enforced) => {
      const random = seeded(enforced ? 7 : 5);
      const draw: Draw = (items) => items[Math.floor(random() * items.length)]!;
      const known = validationCache();
      let objects: Objects = new Map(
        [...start()].map(([id, object]) => [
          id,
          id === 'ipx_1' ? { ...object, body: { ...object.body, enforced } } : object,
        ]),
      );
      let edge: EdgeOfFile | null = null;
      const seen = { sound: 0, refused: 0 };
      for (let step = 0; step < STEPS; step++) {
        const next = changed(objects, draw, step);
        const document = edgeDocument(listed(next), 'service');
        const checked = checkWholeEdge({ value: document.value }, { cache: known });
        // Of copies nothing is known, whatever it is known by.
        const copied = edgeDocument(structuredClone(listed(next)), 'service');
        const fresh = checkWholeEdge({ value: copied.value });
        const errors = (each: typeof fresh) =>
          each.diagnostics.filter(({ severity }) => severity === 'error');
        expect(errors(checked)).toEqual(errors(fresh));
        expect(checked.config).toEqual(fresh.config);
        if (checked.config === null || fresh.config === null) {
          seen.refused++;
          continue;
        }
        objects = next;
        seen.sound++;
        const usable = { ...checked, config: servedConfig(checked.config, document) } as UsableConfig;
        if (edge === null) edge = edgeOf(usable, OPTIONS);
        else edge.swapTo(usable);
        const anew = edgeOf({ ...fresh, config: servedConfig(fresh.config, copied) }, OPTIONS);
        expect(behaviour(edge)).toEqual(behaviour(anew));
      }
      // The walk went both ways, or it shows nothing.
      expect(seen.sound).toBeGreaterThan(STEPS / 3);
      expect(seen.refused).toBeGreaterThan(STEPS / 20);
    },
  );
});

describe('a route that a write does not change', () => {
  const object = (kind: string, id: string, body: object, parent: string | null = null): EdgeObject => ({
    id,
    kind,
    parent,
    body: body as EdgeObject['body'],
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
    const usable = (objects: readonly EdgeObject[], settings: object = {}): UsableConfig => {
      const document = edgeDocument(objects, 'service', settings);
      const checked = checkWholeEdge({ value: document.value }, { cache: known });
      return { ...checked, config: servedConfig(checked.config!, document) };
    };
    const [one, two] = [route('one'), route('two')];
    const edge = edgeOf(usable([...around, one, two]), OPTIONS);
    const pipelineOf = (path: string) =>
      edge.runtime.current().hosts.find('one.test')!.router.find('one.test', path);
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
    // What it leads to is a part of it; what it remembers is kept nevertheless.
    const other = object('http_response_backend', 'bkdhr_1', { status_code: 201, headers: {} });
    edge.swapTo(usable([other, ...around.slice(1), two]));
    const after = pipelineOf('/two')!;
    expect(after).not.toBe(led);
    expect(after.filters[0]!.state).toBe(led!.filters[0]!.state);
    expect(edge.decide({ method: 'GET', url: 'https://one.test/two' }).status).toBe(201);
  });
});
