import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Management, openManagement, usableDocument } from '../src/cli/management.ts';
import { checkWholeEdge } from '../src/edge/further_checks.ts';
import { edgeRuntime } from '../src/edge/runtime.ts';
import { type EdgeObject, edgeDocument } from '../src/resources/edge_document.ts';
import { type BenchRow, type BenchSection, render } from './measure.ts';

const WORLD = { nowMs: Date.now, random: Math.random };
const REQUESTS = 2_000;
const CONNECTIONS = 16;
const SWAPS = 200;

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)]!;

const row = (name: string, ours: number, unit: string): BenchRow => ({ name, ours, unit, peers: {} });

function object(kind: string, id: string, body: object, parent: string | null = null): EdgeObject {
  return { id, kind, parent, body: body as EdgeObject['body'] };
}

function cidr(number: number): string {
  return `${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}.0/24`;
}

/** Objects of an edge with so many routes, and an IP policy with so many rules that one of them uses. */
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

/** Milliseconds from stored objects to a configuration that serves. */
function compileMs(routes: number, rules: number): number {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    // New objects each time: what is made of the same ones is known already.
    const all = objects(routes, rules);
    const began = performance.now();
    edgeRuntime(usableDocument(edgeDocument(all, 'service')).config, WORLD, {});
    times.push(performance.now() - began);
  }
  return quantile(times, 0.5);
}

/** p99 of swaps in which one of 200 routes changes. */
function swapMs(): number {
  const all = objects(200, 0);
  const configs = [0, 1].map((weight) => {
    const last = all.at(-1)!;
    const changed = { ...last, body: { ...last.body, match: `/changed${weight}` } };
    return edgeDocument([...all.slice(0, -1), changed], 'service').value;
  });
  const first = checkWholeEdge({ value: configs[0] });
  const runtime = edgeRuntime(first.config!, WORLD, {});
  const times: number[] = [];
  for (let swap = 0; swap < SWAPS; swap++) {
    const began = performance.now();
    runtime.swap(checkWholeEdge({ value: configs[swap % 2] }).config!);
    times.push(performance.now() - began);
  }
  return quantile(times, 0.99);
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

/** The management API: requests, and the way from stored objects to a running edge. */
export async function run(): Promise<BenchSection> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  const management = await openManagement({ storePath: join(folder, 'store.db') });
  try {
    const rows = [
      ...(await requests(management)),
      // Before what fills the heap: collecting that would be held against it.
      row('swap of 200 routes, p99', swapMs(), 'ms'),
      row('compile, 10 routes', compileMs(10, 0), 'ms'),
      row('compile, 1,000 routes', compileMs(1_000, 0), 'ms'),
      row('compile, 10,000 routes', compileMs(10_000, 0), 'ms'),
      row('compile, 100,000 IP rules', compileMs(1, 100_000), 'ms'),
      row('memory after all of it', process.memoryUsage().rss / 2 ** 20, 'MiB'),
    ];
    const notes = [
      `${CONNECTIONS} connections; client and server share this process, so that requests cost more than they should`,
      'goals: 100,000 IP rules in 1,000 ms, a swap of 200 routes in 5 ms',
    ];
    return { title: 'Management API', rows, notes };
  } finally {
    await management.close();
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
