import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutateOnThreads } from '../src/cli/mutate_threads.ts';
import { type BenchRow, sized } from './measure.ts';

/** Planting mistakes into an edge and running its cases with each, on two threads. */

const ROUTES = 40;
const RULES = 6;
const CASES = sized(500, 50);
const MISTAKES = sized(2_000, 50);
/** Of both threads together: 30 s on two cores. */
const MOST_MS = 60_000;

function edge(): object {
  const routes = Array.from({ length: ROUTES }, (_, route) => {
    const rules = Array.from({ length: RULES }, (__, at) => ({
      expressions: [
        `req.url.path.startsWith('/r${route}/x${at}') && req.method == '${at % 2 === 0 ? 'POST' : 'GET'}'`,
        ...(at % 3 === 0 ? [`inCidrRange(conn.client_ip, '10.${route}.0.0/16')`] : []),
      ],
      actions: [{ type: 'deny', config: { status_code: 400 + at } }],
    }));
    return {
      match_type: 'path_prefix',
      match: `/r${route}`,
      backend: { backend_id: route % 2 === 0 ? 'ops' : 'app' },
      ...(route % 4 === 0 && { ip_restriction: { ip_policy_ids: ['office'] } }),
      traffic_policy: { value: JSON.stringify({ on_http_request: rules }) },
    };
  });
  return {
    ip_policies: { office: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] } },
    backends: {
      app: { static: { address: 'localhost:3000' } },
      ops: { static: { address: 'localhost:3001' } },
    },
    edges: { https: { shop: { hostports: ['shop.test:443'], routes } } },
  };
}

/** Twelve cases for each route, half of them denied, and some without a route. */
function scenario(): object {
  const cases = Array.from({ length: CASES }, (_, at) => {
    const [route, number] = [Math.floor(at / 12), at % 12];
    if (route >= ROUTES)
      return {
        name: `case ${at}`,
        request: { url: `https://shop.test/other${at}` },
        expect: { status: 404 },
      };
    const isDenied = number < RULES;
    return {
      name: `case ${at}`,
      request: {
        method: (number % 2 === 0) === isDenied ? 'POST' : 'GET',
        url: `https://shop.test/r${route}/x${number % RULES}`,
        ip: number % 3 === 0 ? `10.${route}.0.9` : '10.1.2.3',
      },
      expect: { status: isDenied ? 400 + number : 200 },
    };
  });
  return { edge: './edge.json', cases };
}

export async function mutationRows(): Promise<{ readonly rows: readonly BenchRow[]; readonly note: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
  try {
    writeFileSync(join(folder, 'edge.json'), JSON.stringify(edge()));
    const file = join(folder, 'shop.scenario.json');
    writeFileSync(file, JSON.stringify(scenario()));
    const cpu = process.cpuUsage();
    const result = await mutateOnThreads(file, { max: MISTAKES, offers: false }, 2);
    const { user, system } = process.cpuUsage(cpu);
    const ms = (user + system) / 1_000;
    if ('diagnostics' in result) throw new Error('the scenario has errors');
    const name = `mutate, ${MISTAKES.toLocaleString('en')} mistakes × ${CASES} cases, two threads`;
    return {
      rows: [{ name, ours: ms, unit: 'ms', peers: {} }],
      note: `${name}: ≤ ${MOST_MS.toLocaleString('en')} ms of both: ${ms <= MOST_MS ? 'met' : 'MISSED'}`,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
