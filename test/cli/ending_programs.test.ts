import { once } from 'node:events';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { start } from './command.ts';

// A program of the user can end the process before a verb is done, which must not seem a success.

const CASES = 'edge: ./edge.yaml\ncases: [{ name: a, request: GET /, expect: { status: 200 } }]\n';
const folder = folderWith({
  'edge.yaml': `backends: { page: { http_response: { status_code: 200 } } }
edges: { https: { shop: { hostports: ['shop.test:443'], routes: [{ match_type: path_prefix, match: /, backend: { backend_id: page } }] } } }
`,
  'first.scenario.yaml': CASES,
  'waits.scenario.mjs': 'await new Promise(() => {});\nexport default {};\n',
  'exits.scenario.mjs': 'process.exit(0);\nexport default {};\n',
  'ticks.mjs':
    "setInterval(() => {}, 1_000);\nconsole.log('loaded');\nexport default { edges: { https: {} } };\n",
  'waits.mjs': 'await new Promise(() => {});\nexport default {};\n',
  'exits.mjs': 'process.exit(0);\nexport default {};\n',
});

it.each(['waits', 'exits'])('a program that %s fails the verb that loads it', async (name) => {
  const lines = [
    ['check', `${name}.mjs`],
    ['explain', 'GET', 'https://shop.test/', '--edge', `${name}.mjs`],
    ['test', '--jobs', '1', 'first.scenario.yaml', `${name}.scenario.mjs`],
    ['test', '--jobs', '2', 'first.scenario.yaml', `${name}.scenario.mjs`],
  ];
  for (const line of lines) {
    const running = start(line, folder);
    const [code] = (await once(running.process, 'close')) as [number];
    expect([line, code]).toEqual([line, 2]);
    expect(running.output()).toMatch(
      /cannot load (?:waits|exits)\.\S+: the process ended before the program did; it must not call process\.exit, and what it awaits has to settle/,
    );
  }
});

it('a program that leaves a timer running does not keep the verb that loads it', async () => {
  const running = start(['check', 'ticks.mjs'], folder);
  const [code] = (await once(running.process, 'close')) as [number];
  expect(code).toBe(0);
  expect(running.output()).toMatch(/loaded[^]*1 warning/);
});
