import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Management, openManagement, usableDocument } from '../src/control/management.ts';
import { checkWholeEdge } from '../src/edge/semantic_checks.ts';
import { validationCache } from '../src/edge/document/validation_cache.ts';
import { edgeRuntime } from '../src/edge/runtime.ts';
import { edgeObjects } from '../src/control/api/edge_objects.ts';
import {
  type EdgeDocument,
  type EdgeObject,
  edgeDocument,
  servedConfig,
} from '../src/control/resources/edge_document.ts';
import { type BenchRow, type BenchSection, render } from './measure.ts';

const WORLD = { nowMs: Date.now, random: Math.random };
const REQUESTS = 2_000;
const CONNECTIONS = 16;
const SWAPS = 400;
/** Warm-up swaps. */
const WARM_UP = 100;

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)]!;

const row = (name: string, ours: number, unit: string): BenchRow => ({ name, ours, unit, peers: {} });

function object(kind: string, id: string, body: object, parent: string | null = null): EdgeObject {
  return { id, kind, parent, body: body as EdgeObject['body'] };
}

function cidr(number: number): string {
  return `${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}.0/24`;
}

/** Objects of an edge with this many routes, and an IP policy with this many rules, which one of them uses. */
function objects(routes: number, rules: number): EdgeObject[] {
  const restriction = { ip_restriction: { enabled: true, ip_policy_ids: ['ipp_1'] } };
  return [
    object('ip_policy', 'ipp_1', {}),
    ...Array.from({ length: rules }, (_, number) =>
      object(
        'ip_policy_rule',
        `ipr_${number}`,
        { cidr: cidr(number), action: 'allow', ip_policy_id: 'ipp_1' },
        'ipp_1',
      ),
    ),
    object('http_response_backend', 'bkdhr_1', { status_code: 200, headers: {}, body: 'x' }),
    object('https_edge', 'edghts_1', { hostports: ['bench.test:443'] }),
    ...Array.from({ length: routes }, (_, number) =>
      object(
        'https_edge_route',
        `edghtsrt_${number}`,
        {
          match_type: 'path_prefix',
          match: `/r${number}`,
          backend: { enabled: true, backend_id: 'bkdhr_1' },
          ...(number === 0 && rules > 0 && restriction),
        },
        'edghts_1',
      ),
    ),
  ];
}

/** Milliseconds from stored objects to an active configuration. */
function compileMs(routes: number, rules: number): number {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    // New objects each time, because results for the same objects are cached.
    const all = objects(routes, rules);
    const began = performance.now();
    edgeRuntime(usableDocument(edgeDocument(all, 'service')).config, WORLD, {});
    times.push(performance.now() - began);
  }
  return quantile(times, 0.5);
}

const POLICY = JSON.stringify({
  on_http_request: [
    {
      expressions: ["req.url.path.startsWith('/admin')", "conn.client_ip != '192.0.2.1'"],
      actions: [{ type: 'deny', config: { status_code: 403 } }],
    },
  ],
});

/** Modules of a realistic route. */
const MODULES = {
  user_agent_filter: { enabled: true, allow: [], deny: ['(?i)badbot', 'curl/\\d+'] },
  request_headers: { enabled: true, add: { 'x-edge': 'one' }, remove: ['x-internal'] },
  circuit_breaker: {
    enabled: true,
    tripped_duration: 10,
    rolling_window: 10,
    num_buckets: 10,
    volume_threshold: 10,
    error_threshold_percentage: 0.5,
  },
  traffic_policy: { enabled: true, value: POLICY },
  compression: { enabled: true },
};

interface Swap {
  readonly tookMs: number;
  /** Whether the system gave the processor to another process meanwhile. */
  readonly wasInterrupted: boolean;
}

const interruptions = (): number => process.resourceUsage().involuntaryContextSwitches;

/** Times of swaps, from the changed object to an active configuration, each caused by a separate write. */
async function swapTimes(all: readonly EdgeObject[], next: (swap: number) => EdgeObject): Promise<Swap[]> {
  const known = validationCache();
  const kept = edgeObjects();
  const view = { all: async () => all };
  const documentWith = async (touched: readonly EdgeObject[]) => {
    const changes = touched.map((each) => ({ object: each, isGone: false }));
    return edgeDocument(await kept.with(view as never, changes), 'service');
  };
  const usable = (document: EdgeDocument) =>
    servedConfig(checkWholeEdge({ value: document.value }, { cache: known }).config!, document);
  const runtime = edgeRuntime(usable(await documentWith([])), WORLD, {});
  const swaps: Swap[] = [];
  for (let swap = -WARM_UP; swap < SWAPS; swap++) {
    const changed = next(swap);
    const before = interruptions();
    const began = performance.now();
    runtime.swap(usable(await documentWith([changed])));
    const tookMs = performance.now() - began;
    if (swap >= 0) swaps.push({ tookMs, wasInterrupted: interruptions() > before });
  }
  return swaps;
}

/** Swaps in which one of 200 routes changes. */
async function routeSwaps(modules: object): Promise<Swap[]> {
  const all = objects(200, 0).map((each) =>
    each.kind === 'https_edge_route' ? Object.assign(each, { body: { ...each.body, ...modules } }) : each,
  );
  const last = all.at(-1)!;
  return swapTimes(all, (swap) => ({ ...last, body: { ...last.body, match: `/changed${swap}` } }));
}

/** Swaps in which a rule is added to a policy with this many. */
function ruleSwaps(rules: number): Promise<Swap[]> {
  return swapTimes(objects(1, rules), (swap) => {
    const number = rules + swap + WARM_UP;
    const body = { cidr: cidr(number), action: 'allow', ip_policy_id: 'ipp_1' };
    return object('ip_policy_rule', `ipr_${number}`, body, 'ipp_1');
  });
}

async function swapRows(): Promise<BenchRow[]> {
  const measured: readonly (readonly [name: string, swaps: Swap[]])[] = [
    ['swap of 200 routes', await routeSwaps({})],
    ['swap of 200 routes with modules and policies', await routeSwaps(MODULES)],
    ['swap, rule added to 1,000', await ruleSwaps(1_000)],
    ['swap, rule added to 10,000', await ruleSwaps(10_000)],
  ];
  return measured.flatMap(([name, swaps]) => {
    const times = swaps.map(({ tookMs }) => tookMs);
    const own = swaps.filter(({ wasInterrupted }) => !wasInterrupted).map(({ tookMs }) => tookMs);
    return [
      row(`${name}, median`, quantile(times, 0.5), 'ms'),
      row(`${name}, p99`, quantile(times, 0.99), 'ms'),
      row(`${name}, p99 where nothing interrupted`, quantile(own, 0.99), 'ms'),
    ];
  });
}

/** Requests a second and p99 of one kind of request over several connections. */
async function load(
  send: (number: number) => Promise<Response>,
): Promise<{ perSecond: number; p99: number }> {
  const times: number[] = [];
  let number = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (number < REQUESTS) {
        const at = performance.now();
        const response = await send(number++);
        await response.text();
        if (!response.ok) throw new Error(`the API answered ${response.status}`);
        times.push(performance.now() - at);
      }
    }),
  );
  return { perSecond: (times.length / (performance.now() - began)) * 1000, p99: quantile(times, 0.99) };
}

async function requests(management: Management): Promise<BenchRow[]> {
  const listening = await management.listen();
  const headers = {
    authorization: `Bearer ${management.firstKey!}`,
    'service-version': '2',
    'content-type': 'application/json',
  };
  const post = (path: string, body: object) =>
    fetch(listening.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const { id } = (await (await post('/vaults', { name: 'one' })).json()) as { id: string };
  const reads = await load(() => fetch(`${listening.url}/vaults/${id}`, { headers }));
  const writes = await load((number) => post('/api_keys', { description: String(number) }));
  await listening.close();
  return [
    row('reads', reads.perSecond, '/s'),
    row('reads, p99', reads.p99, 'ms'),
    row('durable writes', writes.perSecond, '/s'),
    row('durable writes, p99', writes.p99, 'ms'),
  ];
}

/** The management API: requests, and the time from stored objects to a running edge. */
export async function run(): Promise<BenchSection> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  const management = await openManagement({ storePath: join(folder, 'store.db') });
  try {
    const rows = [
      ...(await requests(management)),
      // Before the sections that fill the heap, whose garbage collection would distort it.
      ...(await swapRows()),
      row('compile, 10 routes', compileMs(10, 0), 'ms'),
      row('compile, 1,000 routes', compileMs(1_000, 0), 'ms'),
      row('compile, 10,000 routes', compileMs(10_000, 0), 'ms'),
      row('compile, 100,000 IP rules', compileMs(1, 100_000), 'ms'),
      row('memory after all of it', process.memoryUsage().rss / 2 ** 20, 'MiB'),
    ];
    const notes = [
      `${SWAPS} swaps each; the system interrupts some to run what else runs on the machine, which the last of the three figures leaves out`,
      `${CONNECTIONS} connections; client and server share this process, so that requests cost more than they should`,
      'goals: 100,000 IP rules in 1,000 ms, a swap of 200 routes in 5 ms (p99)',
    ];
    return { title: 'Management API', rows, notes };
  } finally {
    await management.close();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
