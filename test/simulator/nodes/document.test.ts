import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { edgeproof } from '../../cli/command.ts';
import { folderWith } from '../../folder.ts';

const policy = (capacity: number) => `on_http_request:
  - actions:
      - type: rate-limit
        config: { name: by address, algorithm: sliding_window, capacity: ${capacity}, rate: 60s, bucket_key: [conn.client_ip] }
`;
const HEAD = 'policy: ./policy.yaml\n';
const SIMULATION = `simulation:
  duration: 5m
  arrivals: [{ request: GET /, rate: 20, model: constant }]
`;
const changed = (change: string, nodes = 'nodes: { count: 4 }\n') =>
  `${HEAD}${nodes}${SIMULATION}  changes: [${change}]\n`;

const folder = folderWith({
  'policy.yaml': policy(100),
  'strict.yaml': policy(50),
  'bad.yaml': policy(0),
  'one.yaml': HEAD + SIMULATION,
  'four.yaml': `${HEAD}nodes: { count: 4, spread: round_robin }\n${SIMULATION}  changes:
    - { at: 1m, cut: [3, 4] }
    - { at: 90s, configure: { edge: ./strict.yaml } }
    - { at: 3m, join: true }
    - { at: 4m, cut: [store] }
    - { at: 250s, configure: { edge: ./policy.yaml, on: 2 } }
`,
  'written.yaml': changed('{ at: 90s, configure: { edge: ./strict.yaml, on: 1 } }'),
  'steps.yaml': `${HEAD}nodes: { count: 2, limits: shared, when_unavailable: deny }
cases:
  - name: a node without the shared state refuses
    timeline:
      - { send: { path: /, node: 2 }, expect: { status: 200 } }
      - { cut: [2] }
      - { send: { path: /, node: 2 }, expect: { status: 503 } }
      - { send: { path: /, node: 1, count: 100 }, expect: { counts: { 200: 99, 429: 1 } } }
      - { configure: { edge: ./strict.yaml, on: 1 }, join: true }
      - { advance: 1s, send: { path: /, node: 2, count: 51 }, expect: { counts: { 200: 50, 429: 1 } } }
`,
  'no_node.yaml': changed('{ at: 1m, cut: [3, 5] }'),
  'twice.yaml': changed('{ at: 1m, cut: [[1, state], [2, 1]] }'),
  'no_state.yaml': changed('{ at: 1m, cut: [[1, 2], [3, 4]] }'),
  'alone.yaml': changed('{ at: 1m, join: true }', ''),
  'nobody.yaml': changed('{ at: 1m, revoke: { identity: bob, on: 2 } }'),
  'no_on.yaml': changed('{ at: 1m, revoke: { identity: bob, on: 9 } }'),
  'unread.yaml': changed('{ at: 1m, configure: { edge: ./nowhere.yaml } }'),
  'invalid.yaml': changed('{ at: 1m, configure: { edge: ./bad.yaml } }'),
  'late.yaml': changed('{ at: 5m, join: true }'),
  'many.yaml': `${HEAD}nodes: { count: 65 }\n${SIMULATION}`,
  'request.yaml': `${HEAD}${SIMULATION.replace('GET /', '{ path: /, node: 2 }')}`,
});

interface Data {
  readonly nodes: Readonly<Record<string, unknown>> & {
    readonly rate_limits: readonly { readonly most_in_window: number; readonly over_admitted: number }[];
  };
}

async function simulated(...args: string[]): Promise<Data['nodes']> {
  const { code, stdout, stderr } = await edgeproof(['sim', ...args, '--json'], folder);
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as Data).nodes;
}

describe('sim with several nodes', () => {
  it('shows the over-admission of each way to limit', async () => {
    const most = async (...args: string[]) => {
      const [limit] = (await simulated('one.yaml', '--nodes', '4', '--spread', 'round_robin', ...args))
        .rate_limits;
      return [limit!.most_in_window, limit!.over_admitted > 0];
    };
    expect(await most('--limits', 'local')).toEqual([400, true]);
    expect(await most('--limits', 'shared')).toEqual([100, false]);
    expect(await most('--limits', 'divided')).toEqual([100, false]);
    const away = ['--partition', 'state@0s'];
    expect(await most('--limits', 'shared', ...away)).toEqual([400, true]);
    expect(await most('--limits', 'shared', '--when-unavailable', 'deny', ...away)).toEqual([0, false]);
    expect(await most('--limits', 'shared', '--when-unavailable', 'allow', ...away)).toEqual([1_200, true]);
  });

  it('shows which node served which revision, and what was not written', async () => {
    const { served, revisions, refused_writes: refused } = await simulated('four.yaml');
    expect(revisions).toMatchObject([
      { revision: 2, on: 1, at_ms: 90_000, reached_ms: [90_000, 90_100, 180_100, 180_100] },
    ]);
    expect(refused).toEqual([{ name: './policy.yaml', on: 2, at_ms: 250_000 }]);
    expect(served).toMatchObject([
      { node: 1, revisions: [{ revision: 1 }, { revision: 2 }] },
      { node: 2, revisions: [{ revision: 1 }, { revision: 2 }] },
      { node: 3, revisions: [{ revision: 1, from_ms: 100 }, { revision: 2 }] },
      { node: 4, revisions: [{ revision: 1, from_ms: 150 }, { revision: 2 }] },
    ]);
    const { stdout } = await edgeproof(['sim', 'four.yaml'], folder);
    expect(stdout.slice(stdout.indexOf('4 nodes'))).toMatchSnapshot();
    expect((await edgeproof(['sim', 'four.yaml'], folder)).stdout).toBe(stdout);
  });

  it.each([
    // A cut or a join of others changes nothing: what was written before is heard after its own delay.
    [
      ['--delay', '40s', '--partition', '2@80s-85s'],
      [90_000, 130_000, 130_000, 130_000],
    ],
    [
      ['--delay', '40s', '--partition', '2@100s-2m'],
      [90_000, 160_000, 130_000, 130_000],
    ],
    [
      ['--delay', '10h', '--partition', '2@30s-1m'],
      [90_000, 36_090_000, 36_090_000, 36_090_000],
    ],
  ])('%j: nodes hear after the delay', async (options, reached) => {
    const { revisions } = await simulated('written.yaml', ...options);
    expect(revisions).toMatchObject([{ reached_ms: reached }]);
  });

  it('says what is heard after the end', async () => {
    const { stdout } = await edgeproof(['sim', 'written.yaml', '--delay', '10h'], folder);
    expect(stdout).toContain(
      '\n  node 2 after 36000.0 s, when the simulation has ended, node 3 after 36000.0 s, when the simulation has ended,',
    );
  });

  it('a timeline cuts, joins and configures', async () => {
    expect(await edgeproof(['test', 'steps.yaml'], folder)).toMatchObject({ code: 0 });
  });

  it.each([
    ['no_node.yaml', 'no_node.yaml:6:32 error scenario.bad_nodes there is no node 5: the nodes are 1 to 4'],
    ['twice.yaml', 'twice.yaml:6:45 error scenario.bad_nodes node 1 is in the cut twice'],
    [
      'no_state.yaml',
      'no_state.yaml:6:28 error scenario.bad_nodes all 4 nodes are in groups, and `state` is in none',
    ],
    ['alone.yaml', 'alone.yaml:5:29 error scenario.bad_nodes `join` needs several nodes'],
    ['nobody.yaml', "error scenario.unknown_identity unknown identity 'bob'"],
    ['no_on.yaml', 'there is no node 9: the nodes are 1 to 4'],
    ['unread.yaml', 'unread.yaml:6:42 error scenario.unreadable'],
    ['invalid.yaml', 'bad.yaml:4:'],
    ['many.yaml', 'many.yaml:2:17 error scenario.'],
    [
      'request.yaml',
      'request.yaml:4:42 error scenario.bad_nodes there is no node 2: the edge runs on one node',
    ],
  ])('%s', async (file, message) => {
    const { code, stderr } = await edgeproof(['sim', file], folder);
    expect(code).toBe(3);
    expect(stderr.replaceAll(join(folder, '/'), '')).toContain(message);
  });

  it('warns about a change after the end', async () => {
    const { code, stderr } = await edgeproof(['sim', 'late.yaml'], folder);
    expect(code).toBe(0);
    expect(stderr).toContain(
      'late.yaml:6:19 warning scenario.change_after_end the simulation has ended by then: it lasts 5m',
    );
  });

  it.each([
    [['--nodes', '0'], 'expected a number of nodes from 1 to 64'],
    [['--limits', 'none'], 'Allowed choices are local, shared, divided'],
    [['--limits', 'shared'], '--limits needs several nodes; give --nodes'],
    [['--nodes', '2', '--partition', '3@1m'], '--partition 3@1m: there is no node 3: the nodes are 1 to 2'],
    [['--nodes', '2', '--partition', '2@1m-30s'], 'a cut ends after its start'],
    [['--nodes', '2', '--partition', 'x@1m'], "'x' is neither a node nor state or store"],
    [
      ['--nodes', '2', '--partition', '2@10m'],
      '--partition 2@10m: the simulation has ended by then: it lasts',
    ],
    [['--nodes', '2', '--partition', '2'], 'write a cut as 3,4@2m-3m'],
    [['--nodes', '2', '--delay', 'soon'], 'write a duration as 100ms or 2s'],
  ])('%j', async (args, message) => {
    const { code, stderr } = await edgeproof(['sim', 'one.yaml', ...args], folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
