import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { ENGINE_PARTS, PAGE_SCRIPT, engineParts } from '../../rolldown.pages.ts';
import { IS_FULL } from '../random.ts';
import { folderWith } from '../folder.ts';
import { SCENARIOS, TEXTS, inNode, told } from './fixtures.ts';
import type { Engine } from './bundled_engine.ts';

const dir = folderWith();
/** Those that need most parts. */
const SOME = /compressed|logins|offered/;

let engine: Engine;
/** The parts that were loaded, in their order. */
const loaded: string[] = [];
const PARTS = Object.keys(ENGINE_PARTS);

beforeAll(async () => {
  const build = await rolldown({
    ...PAGE_SCRIPT,
    input: { engine: 'src/playground/engine.ts' },
    plugins: [engineParts(), ...PAGE_SCRIPT.plugins],
    logLevel: 'silent',
  });
  await build.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name].mjs',
    intro: ({ facadeModuleId }) =>
      facadeModuleId?.startsWith('\0part:') === true
        ? `globalThis.loadedParts.push(${JSON.stringify(facadeModuleId.slice('\0part:'.length))});`
        : '',
  });
  (globalThis as unknown as { loadedParts: string[] }).loadedParts = loaded;
  engine = (await import(pathToFileURL(join(dir, 'engine.mjs')).href)) as Engine;
});

const PLAIN = {
  'edge.yaml': `backends: { app: { http_response: { status_code: 200, body: fine } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
`,
  'edge.scenario.yaml': `edge: edge.yaml
cases: [{ name: home, request: https://shop.test/, expect: { status: 200 } }]
`,
};

test('an edge without policies, patterns and logins needs no part', async () => {
  const { cases, diagnostics } = await engine.decideCases(PLAIN, 'edge.scenario.yaml');
  expect([diagnostics, cases.map(({ status }) => status)]).toEqual([[], ['passed']]);
  expect(loaded).toEqual([]);
});

test('every case has the same trace, also those that were begun without a part', async () => {
  for (const scenario of IS_FULL ? SCENARIOS : SCENARIOS.filter((name) => SOME.test(name))) {
    const node = await inNode(scenario);
    const page = await engine.decideCases(TEXTS, scenario);
    expect(page.diagnostics).toEqual(node.diagnostics);
    expect(told(page.cases)).toBe(told(node.cases));
  }
  expect(loaded.length).toBe(new Set(loaded).size);
  expect(loaded.length).toBeGreaterThan(4);
  expect(PARTS).toEqual(expect.arrayContaining(loaded));
});
