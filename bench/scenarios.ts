import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkWholeEdge } from '../src/edge/semantic_checks.ts';
import { createEdge } from '../src/edgeproof.ts';
import { coveredEdge } from '../src/coverage/coverage.ts';
import { createSimulator } from '../src/simulator/create_simulator.ts';
import { simulatedWorld } from '../src/simulator/simulator.ts';
import { prepareRequest } from '../src/simulator/document/requests.ts';
import { checkScenario } from '../src/simulator/document/check.ts';
import { runFile, ONCE } from '../src/simulator/run_file.ts';
import { type EdgeFixture, edgeFixture } from '../src/coverage/edge_fixture.ts';
import { builtOrSource, startMs } from './command.ts';
import { type BenchSection, render, sized } from './measure.ts';
import { watchLoopMs } from './watch_loop.ts';

const CASES = 1_000;
const REQUESTS = sized(1_000_000, 20_000);
const ROUNDS = sized(15, 2);
const DAY_MS = 86_400_000;

const EDGE = {
  ip_policies: { all: { rules: [{ cidr: '0.0.0.0/0', action: 'allow' }] } },
  backends: { app: { static: { address: 'localhost:3000' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            ip_restriction: { ip_policy_ids: ['all'] },
            circuit_breaker: {},
            response_headers: { add: { 'x-edge': '1' } },
            backend: { backend_id: 'app' },
          },
        ],
      },
    },
  },
};

/** Cold cases from process start, and a virtual day of requests. */
export async function run(): Promise<BenchSection> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  try {
    const file = join(folder, 'k.scenario.json');
    writeFileSync(file, JSON.stringify({ edge: EDGE, upstreams: { app: 200 }, cases: casesOf() }));
    const main = builtOrSource();
    const { node, ours } = startMs(['test', '-r', 'dot', file], folder, ROUNDS);
    const perRequest = dayNanoseconds();
    const coverage = coverageMs();
    const watched = join(folder, 'w.scenario.json');
    const saved = (seed: number) =>
      JSON.stringify({ edge: EDGE, seed, upstreams: { app: 200 }, cases: casesOf() });
    const watching = await watchLoopMs(main, watched, saved);
    return {
      title: 'Scenarios',
      floors: ['node -e 0', 'not recorded'],
      between: 'loading the program, reading and checking the file, and compiling and running its cases',
      rows: [
        { name: `${CASES} cases, cold`, ours, unit: 'ms', peers: { 'node -e 0': node } },
        { name: `${CASES} cases, from saving to the result`, ours: watching, unit: 'ms', peers: {} },
        { name: 'virtual request', ours: perRequest, unit: 'ns', peers: {} },
        {
          name: `${CASES} cases, coverage recorded`,
          ours: coverage.recorded,
          unit: 'ms',
          peers: { 'not recorded': coverage.plain },
        },
      ],
      notes: [
        `${(ours / node).toFixed(1)} times a bare process (goal 3), from ${main.endsWith('.cjs') ? 'dist' : 'src'}`,
        `watching: ${watching.toFixed(0)} ms from saving to the result (goal 100), 30 of them to see that it was all`,
        `24 virtual hours with ${REQUESTS.toLocaleString('en')} requests: ${((perRequest * REQUESTS) / 1e9).toFixed(2)} s (goal 5)`,
        `recording coverage costs ${(coverage.recorded / coverage.plain).toFixed(2)} times (goal 1.5), with ten policy rules`,
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function casesOf(): object[] {
  return Array.from({ length: CASES }, (_, at) => ({
    name: `case ${at}`,
    request: { path: `/items/${at}`, ip: `203.0.113.${at % 250}` },
    expect: { status: 200, headers: { 'x-edge': '1' }, upstream: { backend: 'app', path: `/items/${at}` } },
  }));
}

const TURNS = sized(21, 3);

/** The same cases with and without a recorder, alternately, on an edge with a policy. */
function coverageMs(): { readonly plain: number; readonly recorded: number } {
  const rules = Array.from({ length: 10 }, (_rule, at) => ({
    expressions: [`req.method == 'GET' && req.url.path.startsWith('/a${at}') || hasReqHeader('x-${at}')`],
    actions: [{ type: 'deny' }],
  }));
  const [route] = EDGE.edges.https.shop.routes;
  const value = JSON.stringify({ on_http_request: rules });
  const shop = { ...EDGE.edges.https.shop, routes: [{ ...route, traffic_policy: { value } }] };
  const checked = checkWholeEdge({ value: { ...EDGE, edges: { https: { shop } } } });
  const plain = edgeFixture(checked.config!, checked.locate);
  const recorded = coveredEdge(plain).edge;
  const scenario = checkScenario({ value: { edge: 'edge', cases: casesOf() }, name: 'cases' });
  const took = (edge: EdgeFixture): number => {
    const began = performance.now();
    const { cases } = runFile(scenario, edge, ONCE);
    const tookMs = performance.now() - began;
    if (cases.length !== CASES || cases.some(({ status }) => status !== 'passed'))
      throw new Error('a measured case does not pass');
    return tookMs;
  };
  const turns = Array.from({ length: TURNS }, () => [took(plain), took(recorded)] as const);
  const middle = (which: 0 | 1) => turns.map((turn) => turn[which]).sort((a, b) => a - b)[TURNS >> 1]!;
  return { plain: middle(0), recorded: middle(1) };
}

function dayNanoseconds(): number {
  const edge = createEdge(EDGE);
  if (createSimulator(edge).send('GET /').status !== 200) throw new Error('the measured request fails');
  const fixture = edgeFixture(edge.config, () => null);
  const world = simulatedWorld(fixture, { startMs: 0, seed: 1 });
  const setting = { defaults: {}, host: 'shop.test', tls: {}, startMs: 0, signer: null, report: () => {} };
  const request = prepareRequest('GET /items/1', '', setting)!;
  const send = (turn: number): void => {
    if (turn + 1 < REQUESTS) world.clock.schedule(((turn + 1) * DAY_MS) / REQUESTS, () => send(turn + 1));
    world.begin(request);
  };
  const began = performance.now();
  world.clock.schedule(0, () => send(0));
  world.settle();
  return ((performance.now() - began) * 1e6) / REQUESTS;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(render(await run()));
