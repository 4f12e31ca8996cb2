import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packed } from '../built.ts';
import { folderWith } from '../folder.ts';
import { ended } from '../program.ts';
import { IS_FULL } from '../random.ts';

// What the types of the packed tarball accept and refuse, as the compiler sees them in a user's project.

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
const folder = folderWith({ 'package.json': '{ "private": true, "type": "module" }\n' });

beforeAll(async () => {
  const own = join(folder, 'node_modules/edgeproof');
  await mkdir(own, { recursive: true });
  await run('tar', ['-xzf', await packed(), '--strip-components=1', '-C', own]);
  for (const name of ['@types', 'undici-types', 'zod'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
}, 300_000);

/** What the compiler says about files of the folder. */
async function compiled(texts: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  const args =
    '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2024 --types node'.split(
      ' ',
    );
  return ended(join(bin, 'tsc'), [...args, ...Object.keys(texts)], folder);
}

const EDGE = `backends: { app: { static: { address: '127.0.0.1:3000' } } },`;
const edge = (route: string) => `defineEdge({
  ${EDGE}
  edges: { https: { shop: { hostports: ['shop.test:443'], routes: [{ match_type: 'path_prefix', match: '/', ${route} }] } } },
});`;
const IMPORTS = `import { check, createEdge, defineEdge, defineScenario } from 'edgeproof';
import type { EdgeConfigInput, ScenarioInput } from 'edgeproof';\n`;

/** Each line is refused, at the place where the mistake is. */
const MISTAKES: readonly (readonly [says: string, text: string])[] = [
  ['a key of the file', 'defineEdge({ edge: {} });'],
  ['a key of an edge', "createEdge({ edges: { https: { a: { hostport: ['a.test:443'] } } } });"],
  [
    'an action of a rule',
    "defineEdge({ ip_policies: { o: { rules: [{ cidr: '10.0.0.0/8', action: 'permit' }] } } });",
  ],
  ['a type', 'defineEdge({ backends: { a: { static: { address: 3000 } } } });'],
  ['a required key', 'defineEdge({ backends: { a: { static: {} } } });'],
  ['a module', edge("ip_restrictions: { ip_policy_ids: ['o'] }").replaceAll('\n', ' ')],
  ['a key of a module', edge('circuit_breaker: { rolling_windw: 10 }').replaceAll('\n', ' ')],
  ['a value of a module', edge("compression: { enabled: 'yes' }").replaceAll('\n', ' ')],
  [
    'an action of a policy',
    edge("traffic_policy: { on_http_request: [{ actions: [{ type: 'dney' }] }] }").replaceAll('\n', ' '),
  ],
  ['a key of a case', "defineScenario({ cases: [{ name: 'a', request: '/', expects: {} }] });"],
  [
    'a value of a case',
    "defineScenario({ cases: [{ name: 'a', request: '/', expect: { status: true } }] });",
  ],
  ['an object that satisfies', '({ edges: { http: {} } }) satisfies EdgeConfigInput;'],
  ['a scenario that satisfies', "({ cases: [{ nam: 'a' }] }) satisfies ScenarioInput;"],
  ['an option of check', "void check({ name: 'a', text: '' }, { stric: true });"],
];

describe('the types', () => {
  it.runIf(IS_FULL)('name the key that is wrong', async () => {
    const { out } = await compiled({ 'named.ts': IMPORTS + MISTAKES[1]![1] });
    expect(out).toContain('hostport');
    expect(out).toContain("Did you mean to write 'hostports'?");
  });

  const shown = (page: string, pattern: RegExp) => {
    const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```(?:ts|yaml)\n([^]*?)^```$/gm);
    return Array.from(blocks, ([, text]) => text!).find((text) => pattern.test(text))!;
  };

  // One run of the compiler, which takes seconds to read the types.
  it('refuse wrong keys and values, each where it is written, and accept what README and the page about embedding show', async () => {
    const lines = MISTAKES.map(([says, text]) => `// @ts-expect-error ${says}\n${text}`);
    const readme = JSON.stringify(parse(shown('README.md', /^ip_policies:/)));
    const use = shown('README.md', /createEdge\(config/).replace(/^import .*\n/, '');
    const text = `${IMPORTS}const config = ${readme} satisfies EdgeConfigInput;
${use}export const typed: EdgeConfigInput = defineEdge(${readme});\n`;
    const blocks = [/export default defineEdge/, /renderDiagnostics/, /edgeproof\/cel/];
    const pages = blocks.map((pattern, index) => [`page_${index}.ts`, shown('docs/embedding.md', pattern)]);
    const texts = { 'mistakes.ts': IMPORTS + lines.join('\n'), 'readme.ts': text };
    expect(await compiled({ ...texts, ...Object.fromEntries(pages) })).toEqual({ code: 0, out: '' });
  });

  const fixtures = globSync('fixtures/{every_module,sample,scenarios}/*.yaml', { cwd: root });
  const values = fixtures.map((name) => {
    const value = parse(readFileSync(join(root, name), 'utf8'), { logLevel: 'error' }) as Record<
      string,
      unknown
    >;
    return {
      name,
      value,
      define: 'cases' in value || 'simulation' in value ? 'defineScenario' : 'defineEdge',
    };
  });
  const typed = values.filter(({ value }) => ['cases', 'simulation', 'edges'].some((key) => key in value));

  /** The column of a table that holds one of two words, which the types do not know. */
  const withoutColumns = (value: unknown) => JSON.stringify(value).replaceAll('"{connection}"', '"allowed"');

  it.runIf(IS_FULL)('accept the fixtures, without their defaults', async () => {
    expect(typed.length).toBeGreaterThan(10);
    const lines = typed.map(({ name, value, define }) => `// ${name}\n${define}(${withoutColumns(value)});`);
    expect(await compiled({ 'fixtures.ts': IMPORTS + lines.join('\n') })).toEqual({ code: 0, out: '' });
  });
});
