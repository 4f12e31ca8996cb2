import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CLEAN, FUNCTION, LINES, PLANTED, TABLE } from './tidy/planted.ts';
import { deadFileRules } from './tidy/dead_files.ts';
import { worldRules } from './tidy/globals.ts';
import { RULES } from './tidy/rules.ts';
import type { RuleName } from './tidy/rules.ts';
import { readTree } from './tidy/tree.ts';
import type { Breach, Rule } from './tidy/tree.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const NAMES = Object.keys(RULES) as RuleName[];

describe('this project', () => {
  const tree = readTree(ROOT);

  test('is read', () => {
    expect(tree.sources.length).toBeGreaterThan(100);
    expect(tree.markdown.map(({ path }) => path)).toContain('README.md');
  });

  test.each(NAMES)('%s', (name) => {
    const breaches = RULES[name](tree).map(({ path, line, message }) => `${path}:${line} ${message}`);
    expect(breaches.join('\n')).toBe('');
  });
});

/** Rules whose tables fit this project and no other; they are tested with tables of their own. */
const OF_THIS_PROJECT: ReadonlySet<RuleName> = new Set([
  'rooms of the table are there',
  'waiting has an end',
  'exceptions are used',
  'exceptions of filter names are used',
  'exceptions of filter imports are used',
]);

/** The breaches of a rule in the small project with some files added or replaced. */
function breachesOf(rule: RuleName | Rule, files: Readonly<Record<string, string>>): readonly Breach[] {
  const root = mkdtempSync(join(tmpdir(), 'tidy-'));
  try {
    for (const [path, text] of Object.entries({ ...CLEAN, ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return (typeof rule === 'string' ? RULES[rule] : rule)(readTree(root));
  } finally {
    rmSync(root, { recursive: true });
  }
}

describe('a small project', () => {
  // What may wait, and what is excepted, fits the real project only.
  test.each(NAMES.filter((name) => !OF_THIS_PROJECT.has(name)))('clean: %s', (name) => {
    expect(breachesOf(name, {})).toEqual([]);
  });

  test.each(PLANTED)('%s: %s with %j is found', (rule, path, text, line, advice) => {
    const files = { [path]: text, 'src/http/other.ts': "import './fields.ts';\n" };
    const here = breachesOf(rule, files).filter(
      (breach) => breach.path === path || breach.path === dirname(path),
    );
    expect(here).toHaveLength(1);
    expect(here[0]).toMatchObject({ line, message: expect.stringMatching(advice) as string });
  });

  test('every rule that can be breached by a file is planted', () => {
    const planted = new Set(PLANTED.map(([rule]) => rule));
    expect(NAMES.filter((name) => !planted.has(name) && !OF_THIS_PROJECT.has(name))).toEqual([]);
  });

  test('a circle of three is reported once, with all its files', () => {
    const circle = {
      'src/http/a.ts': "import './b.ts';",
      'src/http/b.ts': "export * from './c.ts';",
      'src/http/c.ts': "import type { A } from './a.ts';",
    };
    const breaches = breachesOf('imports have no cycles', circle);
    expect(breaches).toHaveLength(1);
    expect(breaches[0]?.message).toContain('src/http/a.ts → src/http/b.ts → src/http/c.ts → src/http/a.ts');
  });

  test('what waits may be dead, until all of it is used', () => {
    const { noFileIsDead, waitingHasAnEnd } = deadFileRules({
      'src/policy/': 'its issue',
      'src/control/': 'its issue',
    });
    const policy = { 'src/policy/run.ts': 'export {};' };
    expect(breachesOf(noFileIsDead, policy)).toEqual([]);
    expect(breachesOf(waitingHasAnEnd, policy)).toEqual([]);
    const wired = {
      ...policy,
      'src/edge/compile.ts': "import '../policy/run.ts';",
      'src/index.ts': "import './edge/compile.ts';",
    };
    expect(breachesOf(waitingHasAnEnd, wired).map(({ path }) => path)).toEqual(['src/policy/']);
  });

  test('an exception holds for its file and its global, and has to be used', () => {
    const rules = worldRules({ 'src/engine/x.ts': { Date: 'a given time as a date' } });
    const used = { 'src/engine/x.ts': 'export const at = new Date(0);\n' };
    expect(breachesOf(rules.pureRoomsUseNoWorld, used)).toEqual([]);
    expect(breachesOf(rules.exceptionsAreUsed, used)).toEqual([]);
    expect(breachesOf(rules.exceptionsAreUsed, {})).toHaveLength(1);
    expect(breachesOf(rules.pureRoomsUseNoWorld, { 'src/engine/y.ts': 'new Date(0);' })).toHaveLength(1);
    expect(breachesOf(rules.pureRoomsUseNoWorld, { 'src/engine/x.ts': 'Math.random();' })).toHaveLength(1);
  });

  test.each([
    ['comments and strings', "// Date.now()\nexport const s = 'Math.random() setTimeout process';\n"],
    ['types', 'export type T = Date | typeof globalThis;\nexport const f = (at: Date): Date => at;\n'],
    ['keys', 'export const o = { Date: 1, process: 2, m() {} };\nexport const p = o.process + o.Date;\n'],
    [
      'parameters',
      'export const f = (process: number, { fetch, a: [Date = 1] }: never) => [process, fetch, Date];\n',
    ],
    [
      'declarations',
      'function fetch() {}\nclass Date {}\nconst [process = 1] = [];\nvoid fetch, void Date, void process;\n',
    ],
    ['hoisted declarations', 'export const now = () => Date();\nfunction Date() {}\n'],
    [
      'catch and loops',
      'try {} catch (console) { void console; }\nfor (const process of []) void process;\n',
    ],
    ['imports', "import { fetch } from './run.ts';\nfetch();\n"],
    ['labels and meta', 'console: for (;;) break console;\nvoid import.meta;\n'],
    ['dates as numbers', 'export const at = Date.UTC(2026, 0);\n'],
    ['other members of Math', 'export const m = Math.max(Math.PI, 1);\n'],
  ])('%s do not use a global', (_name, text) => {
    const rule = 'pure rooms use no clock, chance, timer, network or console';
    expect(breachesOf(rule, { 'src/engine/x.ts': text })).toEqual([]);
  });

  test('tables and tests have room', () => {
    expect(
      breachesOf('files are short', { 'src/net/x.ts': TABLE('// table: rows', "  'row',", 400) }),
    ).toEqual([]);
    expect(
      breachesOf('tables are data', { 'src/net/x.ts': TABLE('// table: rows', '  (x) => x,', 400) }),
    ).toEqual([]);
    expect(
      breachesOf('tables are data', { 'src/net/x.ts': TABLE('/** Rows. */\n// table', '  1,', 4) }),
    ).toEqual([]);
    expect(breachesOf('functions are short', { 'test/x.ts': FUNCTION(100) })).toEqual([]);
    expect(breachesOf('functions are short', { 'src/net/x.ts': FUNCTION(70) })).toEqual([]);
    expect(breachesOf('files are short', { 'src/net/x.ts': LINES(300, '// line') })).toEqual([]);
  });
});
