import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulator } from '../../../src/simulator/create_simulator.ts';
import { type Member, nodesSetting } from '../../../src/simulator/nodes/setting.ts';
import { sized } from '../../random.ts';
import { limitedEdge } from './limited_edge.ts';
import { type Act, type Answer, naiveNodes } from './naive_nodes.ts';

const CAPACITIES = [7, 3, 12, 1, 5, 9];
const EDGES = CAPACITIES.map((capacity) => limitedEdge(capacity));
const DELAY_MS = 1_000;

const run = fc
  .record({
    count: fc.integer({ min: 1, max: 5 }),
    limits: fc.constantFrom('local' as const, 'shared' as const, 'divided' as const),
    whenUnavailable: fc.constantFrom('local' as const, 'deny' as const, 'allow' as const),
  })
  .chain((given) => {
    const node = fc.integer({ min: 1, max: given.count });
    // A cut that leaves the state to no node is refused, so all members are named.
    const members: Member[] = [...Array.from({ length: given.count }, (_, at) => at + 1), 'state', 'store'];
    const cut = fc.array(fc.integer({ min: 0, max: 2 }), {
      minLength: members.length,
      maxLength: members.length,
    });
    const act = fc.oneof(
      {
        weight: 30,
        arbitrary: fc.record({
          does: fc.constant('request' as const),
          node,
          ip: fc.constantFrom('192.0.2.1', '192.0.2.2'),
        }),
      },
      {
        weight: 3,
        arbitrary: cut.map((groups) => ({
          does: 'cut' as const,
          groups: [1, 2, 3]
            .map((group) => members.filter((_, at) => groups[at] === group - 1))
            .filter((group) => group.length > 0),
        })),
      },
      { weight: 2, arbitrary: fc.constant({ does: 'join' as const }) },
      { weight: 2, arbitrary: fc.record({ does: fc.constant('configure' as const), on: node }) },
    );
    const steps = fc.array(fc.tuple(fc.constantFrom(1, 7, 333, 999, 1_000, 1_001, 6_000, 31_000), act), {
      minLength: 20,
      maxLength: 120,
    });
    return fc.record({ given: fc.constant(given), steps });
  })
  .map(({ given, steps }) => {
    let atMs = 0;
    let written = 0;
    const acts = steps.flatMap(([afterMs, act]): Act[] => {
      atMs += afterMs;
      // There are so many configurations and no more.
      if (act.does === 'configure' && written++ >= EDGES.length - 1) return [];
      return [{ atMs, ...act }];
    });
    return { setting: nodesSetting({ ...given, delayMs: DELAY_MS }), acts };
  });

describe('several nodes against a naive model', () => {
  it('each node serves the revision and admits the requests that the model says', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(run, ({ setting, acts }) => {
        const answers = simulated(setting, acts);
        const { capacities, answers: found } = answers;
        expect(found).toEqual(naiveNodes(acts, capacities, setting));
        for (const { status, revision } of found) {
          const what = `${setting.limits} ${status} ${revision > 1 ? 'later' : 'first'}`;
          seen.set(what, (seen.get(what) ?? 0) + 1);
        }
      }),
      sized(2_000),
    );
    // The runs are of use only if they reach everything.
    const statuses = [
      'local 200',
      'local 429',
      'shared 200',
      'shared 429',
      'shared 503',
      'divided 200',
      'divided 429',
    ];
    for (const status of statuses)
      for (const revision of ['first', 'later']) expect(seen.get(`${status} ${revision}`)).toBeGreaterThan(0);
  });

  it('the report counts what the responses say', () => {
    fc.assert(
      fc.property(run, ({ setting, acts }) => {
        const { answers, report } = simulated(setting, acts);
        const sum = (of: (limit: (typeof report.limits)[number]) => number) =>
          report.limits.reduce((all, limit) => all + of(limit), 0);
        const count = (status: number) => answers.filter((each) => each.status === status).length;
        expect(sum(({ requests }) => requests)).toBe(answers.length);
        expect(sum(({ admitted }) => admitted)).toBe(count(200));
        expect(sum(({ unavailable }) => unavailable)).toBe(count(503));
        const requests = acts.filter(({ does }) => does === 'request') as Extract<Act, { does: 'request' }>[];
        for (const { node, requests: of, revisions } of report.nodes) {
          const own = answers.filter((_, at) => requests[at]!.node === node);
          expect(of).toBe(own.length);
          for (const { revision, requests: with_ } of revisions)
            expect(with_).toBe(own.filter((each) => each.revision === revision).length);
        }
        for (const { capacity, most, admitted, oneNode } of report.limits) {
          const own = requests.filter((_, at) => answers[at]!.status === 200);
          if (report.limits.length === 1) expect(most.admitted).toBe(mostWithin(own));
          if (setting.limits === 'divided') expect(most.admitted).toBeLessThanOrEqual(capacity);
          if (setting.count === 1 && setting.limits !== 'shared') expect(admitted).toBe(oneNode);
        }
      }),
      sized(1_000),
    );
  });
});

/** The most requests of one client within any 60 s. */
function mostWithin(requests: readonly Extract<Act, { does: 'request' }>[]): number {
  const within = (last: (typeof requests)[number]) =>
    requests.filter(({ ip, atMs }) => ip === last.ip && atMs <= last.atMs && atMs > last.atMs - 60_000)
      .length;
  return Math.max(0, ...requests.map(within));
}

function simulated(setting: ReturnType<typeof nodesSetting>, acts: readonly Act[]) {
  const { delayMs, ...rest } = setting;
  const simulator = createSimulator(EDGES[0]!, { nodes: { ...rest, delay: delayMs } });
  const startMs = simulator.nowMs();
  const capacities = [CAPACITIES[0]!];
  let next = 1;
  const answers: Answer[] = [];
  for (const act of acts) {
    simulator.advance(startMs + act.atMs - simulator.nowMs());
    if (act.does === 'request') {
      const { status, node } = simulator.send({ path: '/', ip: act.ip, node: act.node });
      expect(node?.number).toBe(act.node);
      answers.push({ status, revision: node!.revision });
    } else if (act.does === 'configure') {
      const before = simulator.nodes().revisions.length;
      simulator.configure(EDGES[next]!, act.on);
      if (simulator.nodes().revisions.length > before) capacities.push(CAPACITIES[next]!);
      next++;
    } else if (act.does === 'cut') simulator.cut(act.groups);
    else simulator.join();
  }
  return { answers, capacities, report: simulator.nodes() };
}
