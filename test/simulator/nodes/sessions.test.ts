import { describe, expect, it } from 'vitest';
import { createEdge } from '../../../src/edgeproof.ts';
import { type SimulatorOptions, createSimulator } from '../../../src/simulator/create_simulator.ts';
import type { NodesReport } from '../../../src/simulator/nodes/report.ts';
import { configAround } from '../../filters/modules/edge_around.ts';

const edge = createEdge(
  configAround(
    'oidc',
    { issuer: 'https://idp.test', client_id: 'a', client_secret: 'b' },
    { app: '127.0.0.1:1', next: '127.0.0.1:2' },
  ),
);

/** Alice logs in, is revoked at node 2, and asks node 3 four times, once a second. */
function revoked(nodes: NonNullable<SimulatorOptions['nodes']>, cut = false) {
  const simulator = createSimulator(edge, { nodes });
  simulator.identity('alice', { email: 'alice@example.test' });
  const visit = (node: number) => simulator.send({ path: '/', as: 'alice', node }).event.object;
  visit(1);
  const passed = (node: number): boolean => {
    const before = simulator.nodes().ends[0]?.passed;
    visit(node);
    return simulator.nodes().ends[0]?.passed !== before;
  };
  const startMs = simulator.nowMs();
  if (cut) simulator.cut([3]);
  simulator.revoke('alice', 2);
  const answers = [1, 2, 3, 4].map(() => {
    simulator.advance('1s');
    return passed(3);
  });
  return { simulator, startMs, answers, report: simulator.nodes() };
}

describe('sessions on several nodes', () => {
  it('a revocation is lost where nodes do not tell each other', () => {
    const { answers, report, startMs } = revoked({ count: 3, spread: 'round_robin' });
    expect(answers).toEqual([true, true, true, true]);
    expect(report.ends).toEqual([
      {
        of: 'user',
        node: 2,
        atMs: startMs,
        knownMs: [null, startMs, null],
        passed: 4,
        lastPassedMs: startMs + 4_000,
      },
    ]);
  });

  it('all nodes know it after the delay where they do', () => {
    const { answers, report, startMs } = revoked({ count: 3, sessions: 'shared', delay: '250ms' });
    expect(answers).toEqual([false, false, false, false]);
    expect(report.ends).toMatchObject([
      { knownMs: [startMs + 250, startMs, startMs + 250], passed: 0, lastPassedMs: null },
    ]);
    const slow = revoked({ count: 3, sessions: 'shared', delay: '2500ms' });
    expect(slow.answers).toEqual([true, true, false, false]);
    expect(slow.report.ends).toMatchObject([{ passed: 2, lastPassedMs: slow.startMs + 2_000 }]);
  });

  it('a node that is cut off knows it when it is joined', () => {
    const { simulator, answers, startMs } = revoked({ count: 3, sessions: 'shared' }, true);
    expect(answers).toEqual([true, true, true, true]);
    const knownOf = ({ ends }: NodesReport) => ends[0]!.knownMs;
    expect(knownOf(simulator.nodes())).toEqual([startMs + 100, startMs, null]);
    simulator.join();
    simulator.advance('1s');
    expect(knownOf(simulator.nodes())).toEqual([startMs + 100, startMs, startMs + 4_100]);
    simulator.send({ path: '/', as: 'alice', node: 3 });
    expect(simulator.nodes().ends[0]!.passed).toBe(4);
  });

  it('a login that begins at one node ends at another', () => {
    for (const sessions of ['local', 'shared'] as const) {
      const simulator = createSimulator(edge, { nodes: { count: 4, sessions, spread: 'round_robin' } });
      simulator.identity('alice', { email: 'alice@example.test' });
      expect(simulator.send({ path: '/', as: 'alice' })).toMatchObject({ status: 200, node: { number: 3 } });
    }
  });
});

describe('the spread', () => {
  const nodesOf = (spread: 'random' | 'round_robin' | 'client', seed = 1) => {
    const simulator = createSimulator(edge, { nodes: { count: 4, spread }, seed });
    return Array.from({ length: 400 }, (_, at) => {
      const ip = `192.0.2.${1 + (at % 40)}`;
      return { ip, node: simulator.send({ path: '/', ip }).node!.number };
    });
  };

  it('is even, and the same for the same seed', () => {
    expect(nodesOf('random')).toEqual(nodesOf('random'));
    expect(nodesOf('random', 2)).not.toEqual(nodesOf('random'));
    for (const node of [1, 2, 3, 4]) {
      const share = nodesOf('random').filter((each) => each.node === node).length;
      // Five standard deviations of a fair choice.
      expect(Math.abs(share - 100)).toBeLessThan(44);
    }
    expect(nodesOf('round_robin').map(({ node }) => node)).toEqual(
      Array.from({ length: 400 }, (_, at) => 1 + (at % 4)),
    );
  });

  it('keeps a client at its node', () => {
    const nodes = new Map<string, Set<number>>();
    for (const { ip, node } of nodesOf('client')) nodes.set(ip, (nodes.get(ip) ?? new Set()).add(node));
    expect([...nodes.values()].map(({ size }) => size)).toEqual(Array(40).fill(1));
    expect(new Set(nodesOf('client').map(({ node }) => node)).size).toBe(4);
  });
});

describe('what cannot be', () => {
  const simulator = createSimulator(edge, { nodes: 2 });
  it.each([
    [() => createSimulator(edge, { nodes: 0 }), 'nodes are 1 to 64, not 0'],
    [
      () => createSimulator(edge, { nodes: { count: 2, delay: 'soon' } }),
      "'soon' is not a duration such as 100ms",
    ],
    [
      () => createSimulator(edge, { nodes: { count: 2, limits: 'none' as never } }),
      'limits is one of local, shared, divided',
    ],
    [() => createSimulator(edge).join(), 'this simulator has one node'],
    [() => simulator.send({ path: '/', node: 3 }), 'there is no node 3: the nodes are 1 to 2'],
    [() => simulator.cut([3]), 'there is no node 3'],
    [() => simulator.cut([[1], [1, 2]]), 'node 1 is in the cut twice'],
    [() => simulator.cut([[1], [2]]), '`state` is in none'],
    [() => simulator.configure(edge, 3), 'there is no node 3'],
    [() => simulator.revoke('bob'), "no identity is called 'bob'"],
  ])('%#', (run, message) => {
    expect(run).toThrow(message);
  });
});
