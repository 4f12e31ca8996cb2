import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';
import { ranAll } from './table/ran.ts';

const EDGE = `backends: { b: { http_response: { status_code: 200 } } }
edges: { https: { a: { hostports: ["a.test:443"], routes: [{ match_type: path_prefix, match: /, backend: { backend_id: b } }] } } }
`;
const SCENARIO = (name: string, tag: string): string =>
  `edge: ../edges/one.yaml\ncases: [{ name: ${name}, tags: [${tag}], request: GET https://a.test/, expect: { status: 200 } }]\n`;
const folder = folderWith({
  'edges/one.yaml': EDGE,
  'edges/deep/two.yaml': EDGE.replace('hostports', 'hostport'),
  'edges/deep/values.yaml': 'replicas: 3\n',
  'edges/node_modules/x/edge.yaml': 'edges: 1\n',
  'edges/[odd].yaml': EDGE,
  'tests/first.scenario.yaml': SCENARIO('first', 'slow-dns'),
  'tests/second.scenario.yaml': SCENARIO('second', 'fast'),
});

const CASES: readonly (readonly [line: string, code: number, shows: RegExp])[] = [
  ['check edges/*.yaml', 0, /edges\/\[odd\]\.yaml, edges\/one\.yaml: no problems found/],
  ['check edges/[odd].yaml', 0, /edges\/\[odd\]\.yaml: no problems found/],
  ['check edges', 3, /^edges\/deep\/two\.yaml:2:\d+ error/m],
  ['check edges/{deep,shallow}/t*.yaml', 3, /did you mean 'hostports'/],
  ['check edges/**/none*.yaml', 2, /no file matches 'edges\/\*\*\/none\*\.yaml'; correct the pattern/],
  ['check', 3, /^edges\/deep\/two\.yaml:2:\d+ error/m],
  ['check tests', 0, /first\.scenario\.yaml, tests\/second\.scenario\.yaml: no problems/],
  ['check edges/node_modules', 3, /edges\/node_modules\/x\/edge\.yaml/],
  ['fmt', 2, /no file is named, and there is no edge\.yaml in this folder; name the edge file/],
  ['fmt --check', 0, /^$/],
  ['fmt --check tests', 2, /there are no policies or edge files in tests/],
  ['test tests/f*', 0, /^1 passed/m],
  ['test ./tests/*.yaml', 0, /^2 passed/m],
  ['test t*s', 0, /^2 passed/m],
  ['test tests -t slow-*', 0, /✓ first[\s\S]*^1 passed/m],
  ['test tests -t !slow-*', 0, /✓ second[\s\S]*^1 passed/m],
  ['test test', 2, /cannot read test: there is no such file or folder; .*correct the name/],
  ['cover tests/*.scenario.yaml --no-offer', 0, /./],
];

/** Verbs that take one file: without one, they take the usual file, or say that it is not there. */
const ONE: readonly (readonly [line: string, file: string])[] = [
  ['fmt', 'edge.yaml'],
  ['bench', 'edge.yaml'],
  ['explain GET https://a.test/', 'edge.yaml'],
  ['replay access.log', 'edge.yaml'],
  ['prove', 'edge.yaml'],
  ['classes', 'edge.yaml'],
  ['dev', 'edge.yaml'],
  ['record --out session.ndjson', 'edge.yaml'],
  ['apply', 'edge.yaml'],
  ['mutate', 'edge.scenario.yaml'],
  ['sim', 'edge.scenario.yaml'],
];

it('without a file, verbs take the usual one, or say what they have looked for', async () => {
  const other = folderWith({ 'other.yaml': EDGE });
  const jobs = ONE.map(([line]) => ({ name: line, args: line.split(' ') }));
  for (const [index, { name, code, text }] of (await ranAll(jobs, other)).entries()) {
    expect({ name, code }).toEqual({ name, code: 2 });
    expect(text).toContain(`no file is named, and there is no ${ONE[index]![1]} in this folder`);
  }
  const usual = {
    'edge.yaml': EDGE,
    'edge.scenario.yaml': SCENARIO('first', 'fast').replace('../edges/one', 'edge'),
  };
  const [mutated, simulated, near] = await Promise.all([
    edgeproof(['mutate', '--max', '1', '--json'], folderWith(usual)),
    edgeproof(['sim'], folderWith(usual)),
    edgeproof(['classes'], folderWith({ 'edge.yml': EDGE })),
  ]);
  expect(mutated).toMatchObject({ code: 0, stdout: expect.stringContaining('"score"') as string });
  expect(simulated.stderr).toContain('edge.scenario.yaml has no simulation');
  expect(near.stderr).toContain("did you mean 'edge.yml'?");
});

it('files, folders and patterns', async () => {
  const ran = await ranAll(
    CASES.map(([line]) => ({ name: line, args: line.split(' ') })),
    folder,
  );
  for (const [index, [line, code, shows]] of CASES.entries()) {
    expect([line, ran[index]!.code, ran[index]!.text]).toEqual([line, code, expect.stringMatching(shows)]);
  }
  expect(ran[2]!.text).not.toContain('values.yaml');
  expect(ran[CASES.findIndex(([line]) => line === 'check')]!.text).not.toContain('values.yaml');
});

it('the packaged command has them, too', async () => {
  expect(await edgeproof(['check', 'edges/*.yaml'], folder)).toMatchObject({ code: 0 });
});

it('verbs without a file take those of this folder', async () => {
  const own = folderWith({ 'edge.yaml': EDGE });
  expect(await edgeproof(['check'], own)).toMatchObject({
    code: 0,
    stdout: 'edge.yaml: no problems found\n',
  });
  expect(await edgeproof(['fmt'], own)).toMatchObject({ code: 0, stdout: EDGE });
  const empty = await edgeproof(['check'], folderWith({}));
  expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('scenario files in this folder;') });
});
