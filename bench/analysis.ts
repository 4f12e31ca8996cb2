import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { findings } from '../src/analysis/findings.ts';
import { compare as diff } from '../src/analysis/diff.ts';
import { prove } from '../src/analysis/prove.ts';
import type { EdgeConfig } from '../src/edge/document/schema.ts';
import { createEdge } from '../src/edgeproof.ts';
import { v4FromNumber } from '../src/net/address.ts';
import { emptyProcess, parsedMs } from './floors.ts';
import { type BenchRow, type BenchSection, type Floor, figure } from './measure.ts';
import { mutationRows } from './mutation.ts';

/** Exact analysis: processor time, and memory. */

/** Routes of an edge, each with rules of its own; a rule of the routes `changed` is another. */
function manyRoutes(routes: number, rules: number, changed: readonly number[] = []): EdgeConfig {
  const ruleOf = (route: number, at: number): object => ({
    expressions: [
      `req.url.path.startsWith('/r${route}/${at === 3 && changed.includes(route) ? 'y' : 'x'}${at}') && req.method == '${at % 2 === 0 ? 'POST' : 'GET'}'`,
    ],
    actions: [{ type: 'deny', config: { status_code: 400 + at } }],
  });
  const routeOf = (route: number): object => ({
    match_type: 'path_prefix',
    match: `/r${route}`,
    backend: { backend_id: 'app' },
    ...(rules > 0 && {
      traffic_policy: {
        value: JSON.stringify({
          on_http_request: Array.from({ length: rules }, (_, at) => ruleOf(route, at)),
        }),
      },
    }),
    ...(rules === 0 && changed.includes(route) && { compression: {} }),
  });
  return createEdge({
    backends: { app: { static: { address: 'localhost:3000' } } },
    edges: {
      https: {
        main: {
          hostports: ['a.test:443'],
          routes: Array.from({ length: routes }, (_, route) => routeOf(route)),
        },
      },
    },
  }).config;
}

/** An IP policy with this many ranges of which no two touch. */
function manyRanges(count: number, without = -1): EdgeConfig {
  const rules = Array.from({ length: count }, (_, at) => ({
    cidr: `${v4FromNumber(0x0a00_0000 + at * 512).text}/24`,
    action: 'allow',
  }));
  return createEdge({
    backends: { app: { static: { address: 'localhost:3000' } } },
    ip_policies: { office: { rules: rules.filter((_, at) => at !== without) } },
    edges: {
      https: {
        main: {
          hostports: ['a.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              ip_restriction: { ip_policy_ids: ['office'] },
            },
          ],
        },
      },
    },
  }).config;
}

const ROUNDS = 5;

/** Milliseconds of processor time: of the first run in this process, and the median of the next ones. */
function rowsOf(name: string, work: () => unknown, floor: Floor): readonly BenchRow[] {
  const times = Array.from({ length: ROUNDS + 1 }, () => {
    const started = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000;
  });
  const [first, ...next] = times as [number, ...number[]];
  const median = next.toSorted((one, other) => one - other)[ROUNDS >> 1]!;
  return [figure(name, median, 'ms', floor), figure(`${name}, first run`, first, 'ms', floor)];
}

/** Pairs of configurations, each with the most milliseconds that comparing them may take. */
const PAIRS: Readonly<
  Record<string, { readonly most: number | null; readonly make: () => [EdgeConfig, EdgeConfig] }>
> = {
  '200 routes × 10 rules, one changed': {
    most: 300,
    make: () => [manyRoutes(200, 10), manyRoutes(200, 10, [77])],
  },
  '200 routes × 10 rules, one rule changed in each': {
    most: null,
    make: () => [
      manyRoutes(200, 10),
      manyRoutes(
        200,
        10,
        Array.from({ length: 200 }, (_, at) => at),
      ),
    ],
  },
  '10,000 routes, one changed': {
    most: 5_000,
    make: () => [manyRoutes(10_000, 0), manyRoutes(10_000, 0, [7_777])],
  },
  '100,000 ranges, one fewer': {
    most: 1_000,
    make: () => [manyRanges(100_000), manyRanges(100_000, 50_000)],
  },
};
const MOST_MEMORY = 500;

function differ([before, after]: readonly [EdgeConfig, EdgeConfig]): void {
  if (diff({ config: before }, { config: after }).verdict !== 'different') throw new Error('no difference');
}

export async function run(): Promise<BenchSection> {
  const rows: BenchRow[] = [];
  const notes: string[] = [];
  for (const [name, { most, make }] of Object.entries(PAIRS)) {
    const pair = make();
    const own = rowsOf(`diff, ${name}`, () => differ(pair), parsedMs(pair));
    const resident = Number(
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: 'utf8' }),
    );
    rows.push(...own, figure(`diff, ${name}, memory`, resident, 'MiB', emptyProcess().memory));
    if (most !== null) {
      const isMet = own[0]!.ours <= most && resident < MOST_MEMORY;
      notes.push(
        `${name}: ≤ ${most.toLocaleString('en')} ms and < ${MOST_MEMORY} MiB: ${isMet ? 'met' : 'MISSED'}`,
      );
    }
  }
  const property = { name: 'all', never: { end: 'forwarded', without: ['ip_restriction'] } } as const;
  const [ranges, routes] = [manyRanges(100_000), manyRoutes(200, 10)];
  rows.push(...rowsOf('prove, 100,000 ranges', () => prove(ranges, property), parsedMs(ranges)));
  rows.push(...rowsOf('check --exact, 200 routes × 10 rules', () => findings(routes), parsedMs(routes)));
  const mutation = await mutationRows();
  rows.push(...mutation.rows);
  notes.push(
    mutation.note,
    'files that have been read and checked; the median of 5 runs after the first',
    'memory: largest resident set of a process that makes both configurations and compares them once',
  );
  return {
    title: 'Exact analysis: processor time',
    rows,
    notes,
    between:
      'diagrams of what both configurations do with every request; the floor looks at each of their values once',
  };
}

if (import.meta.main) {
  differ(PAIRS[process.argv[2] ?? '']!.make());
  process.stdout.write(String(process.resourceUsage().maxRSS / 1_024));
}
