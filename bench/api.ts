import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { edgeChange, wholeDocument } from '../src/control/api/edge_slice.ts';
import { planeOf, usableDocument } from '../src/control/data_plane.ts';
import { openManagement } from '../src/control/management.ts';
import { edgeRuntime } from '../src/edge/runtime.ts';
import { edgeObjects } from '../src/control/api/edge_objects.ts';
import type { ResourceObject } from '../src/control/resources/contract.ts';
import { referencesIn } from '../src/control/resources/parse.ts';
import { resourceOfKind } from '../src/control/resources/table.ts';
import { openSealedStore } from '../src/control/sealed_store.ts';
import { currentSecrets } from '../src/control/vault_secrets.ts';
import { edgeOf } from '../src/edgeproof.ts';
import { requestRows } from './api_requests.ts';
import { emptyProcess } from './floors.ts';
import { type BenchRow, type BenchSection, figure, quantile, render, sized } from './measure.ts';

const WORLD = { nowMs: Date.now, random: Math.random };
const SURROUNDINGS = { service: 'service', settings: {} };
const SWAPS = sized(1_000, 30);
/** Warm-up swaps. */
const WARM_UP = 100;

function object(kind: string, id: string, body: object, parent: string | null = null): ResourceObject {
  return { id, kind, parent, body: body as ResourceObject['body'] };
}

function cidr(number: number): string {
  return `${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}.0/24`;
}

/** Objects of an edge with this many routes, and an IP policy with this many rules, which one of them uses. */
function objects(routes: number, rules: number): ResourceObject[] {
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
    edgeRuntime(usableDocument(wholeDocument(edgeObjects(all), SURROUNDINGS)).config, WORLD, {});
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
function swapTimes(all: readonly ResourceObject[], next: (swap: number) => ResourceObject): Swap[] {
  const kept = edgeObjects(all);
  const document = wholeDocument(kept, SURROUNDINGS);
  const first = usableDocument(document);
  const edge = edgeOf(first, {});
  const plane = planeOf(edge, first, currentSecrets(document));
  const swaps: Swap[] = [];
  for (let swap = -WARM_UP; swap < SWAPS; swap++) {
    const changed = next(swap);
    const before = interruptions();
    const began = performance.now();
    const { change } = edgeChange(kept, [{ object: changed, isGone: false }], SURROUNDINGS);
    const { findings } = plane.swap(change);
    const tookMs = performance.now() - began;
    if (findings.length > 0) throw new Error(findings[0]!.message);
    if (swap >= 0) swaps.push({ tookMs, wasInterrupted: interruptions() > before });
  }
  return swaps;
}

/** Swaps in which one of 200 routes changes. */
function routeSwaps(modules: object): Swap[] {
  const all = objects(200, 0).map((each) =>
    each.kind === 'https_edge_route' ? Object.assign(each, { body: { ...each.body, ...modules } }) : each,
  );
  const last = all.at(-1)!;
  return swapTimes(all, (swap) => ({ ...last, body: { ...last.body, match: `/changed${swap}` } }));
}

/** Swaps in which a rule is added to a policy with this many. */
function ruleSwaps(rules: number): Swap[] {
  return swapTimes(objects(1, rules), (swap) => {
    const number = rules + swap + WARM_UP;
    const body = { cidr: cidr(number), action: 'allow', ip_policy_id: 'ipp_1' };
    return object('ip_policy_rule', `ipr_${number}`, body, 'ipp_1');
  });
}

/** Swaps in which a route is added to one of this many edges, each with one route. */
function edgeSwaps(edges: number): Swap[] {
  const backend = { enabled: true, backend_id: 'bkdhr_1' };
  const route = (id: string, match: string, edge: number) =>
    object('https_edge_route', id, { match_type: 'path_prefix', match, backend }, `edghts_${edge}`);
  const all = [
    object('http_response_backend', 'bkdhr_1', { status_code: 200, headers: {}, body: 'x' }),
    ...Array.from({ length: edges }, (_, edge) => [
      object('https_edge', `edghts_${edge}`, { hostports: [`edge${edge}.test:443`] }),
      route(`edghtsrt_${edge}`, '/', edge),
    ]).flat(),
  ];
  return swapTimes(all, (swap) => {
    const number = swap + WARM_UP;
    return route(`edghtsrt_${edges + number}`, `/added${number}`, number % edges);
  });
}

function swapRows(): BenchRow[] {
  const measured: readonly (readonly [name: string, swaps: Swap[]])[] = [
    ['swap of 200 routes', routeSwaps({})],
    ['swap of 200 routes with modules and policies', routeSwaps(MODULES)],
    ['swap, rule added to 1,000', ruleSwaps(1_000)],
    ['swap, rule added to 10,000', ruleSwaps(10_000)],
    ['swap, rule added to 100,000', ruleSwaps(100_000)],
    ['swap, route added at 2,000 edges', edgeSwaps(2_000)],
  ];
  return measured.flatMap(([name, swaps]) => {
    const times = swaps.map(({ tookMs }) => tookMs);
    const own = swaps.filter(({ wasInterrupted }) => !wasInterrupted).map(({ tookMs }) => tookMs);
    return [
      figure(`${name}, median`, quantile(times, 0.5), 'ms'),
      figure(`${name}, p99`, quantile(times, 0.99), 'ms'),
      figure(`${name}, p99 where nothing interrupted`, quantile(own, 0.99), 'ms'),
    ];
  });
}

/** Milliseconds from a store with 110,000 objects to an API and an edge that can listen. */
async function startMs(folder: string): Promise<number> {
  const storePath = join(folder, 'full.db');
  const { store } = await openSealedStore(storePath);
  const all = objects(9_997, 100_000);
  for (let from = 0; from < all.length; from += 10_000) {
    await store.write(async (transaction) => {
      for (const each of all.slice(from, from + 10_000)) {
        const resource = resourceOfKind(each.kind);
        const references = referencesIn(resource, each.body).map((reference) => reference.id);
        await transaction.insert({ ...each, references, claims: [] });
      }
    });
  }
  await store.close();
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    const management = await openManagement({ storePath });
    times.push(performance.now() - began);
    await management.close();
  }
  return quantile(times, 0.5);
}

/** The resident memory of an instance of its own, as users start it: the build of the present sources. */
async function memoryMiB(storePath: string): Promise<number> {
  const project = join(import.meta.dirname, '..');
  execFileSync('npm', ['run', '-s', 'build'], { cwd: project, stdio: 'inherit' });
  const main = join(project, 'dist/lib/main.cjs');
  const options = ['--store', storePath, '--port', '0', '--api-port', '0', '--no-tls'];
  const child = spawn(process.execPath, [main, 'serve', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    for await (const text of child.stdout.setEncoding('utf8')) if (String(text).includes('store ')) break;
    const [, kilobytes = '0'] =
      /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } finally {
    child.kill();
  }
}

/** The management API: requests, and the time from stored objects to a running edge. */
export async function run(): Promise<BenchSection> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  const management = await openManagement({ storePath: join(folder, 'store.db') });
  try {
    const { memory } = emptyProcess();
    const rows = [
      ...(await requestRows(management)),
      // Before the sections that fill the heap, whose garbage collection would distort it.
      ...swapRows(),
      figure('compile, 10 routes', compileMs(10, 0), 'ms'),
      figure('compile, 1,000 routes', compileMs(1_000, 0), 'ms'),
      figure('compile, 10,000 routes', compileMs(10_000, 0), 'ms'),
      figure('compile, 100,000 IP rules', compileMs(1, 100_000), 'ms'),
      figure('start with 110,000 objects', await startMs(folder), 'ms', emptyProcess().start),
      figure(
        'memory of `serve` with 110,000 objects',
        await memoryMiB(join(folder, 'full.db')),
        'MiB',
        memory,
      ),
      figure('memory of the benchmark after all of it', process.memoryUsage().rss / 2 ** 20, 'MiB', memory),
    ];
    const notes = [
      `${SWAPS} swaps each; the system interrupts some to run what else runs on the machine, which the last of the three figures leaves out`,
      '16 connections; the client has a process of its own',
      'goals: 10,000 reads/s, 3,000 durable writes/s, 300 MiB; start in 1,000 ms; swaps in 5 ms (p99)',
    ];
    return {
      title: 'Management API',
      rows,
      notes,
      floors: ['node:http, same bytes'],
      between:
        'the key, the rights, the store and the JSON of each object; of writes, checks and a log entry; of swaps, what changed is checked, compiled and put in place',
    };
  } finally {
    await management.close();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
