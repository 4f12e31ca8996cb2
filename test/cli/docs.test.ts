import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderDiagnostics } from '../../src/diagnostics/render.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { readProperties } from '../../src/project_files/property_file.ts';
import type { VerbFile } from '../../src/cli/verb_row.ts';
import { EXIT_CODES } from '../../src/cli/exit_codes.ts';
import { VERB_NAMES } from '../../src/cli/verbs.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

// What README and docs print must run as it is printed: configurations are checked, scenarios run, command lines read.

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Pages made of others, and the page of commands: tests of the command line run its examples. */
const GENERATED = new Set(['fidelity.md', 'reference/commands.md']);
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) => pageOf(name)),
];

function pageOf(name: string): string[] {
  return name.endsWith('.md') && !GENERATED.has(name) ? [`docs/${name}`] : [];
}

/** Pages whose configurations other tests run: those that are followed, parts of records, and generated ones. */
const hasOtherTests = (page: string): boolean => page === 'docs/tutorial.md' || page.split('/').length > 2;

interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const texts = new Map(pages.map((page) => [page, readFileSync(join(root, page), 'utf8')]));
const blocks = [...texts].flatMap(([page, text]): Block[] =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split('\n').length,
    language: found[1]!,
    text: found[2]!,
  })),
);
const yaml = blocks.filter(({ language, page }) => language === 'yaml' && !hasOtherTests(page));
const titled = (all: readonly Block[]) => all.map((block) => [`${block.page}:${block.line}`, block] as const);
const has = (key: string) => (block: Block) => Object.hasOwn(parse(block.text) as object, key);

/** The edge file of a page, or that of the README. */
function edgeOf(page: string): string {
  const own = yaml.find((block) => block.page === page && has('edges')(block));
  return (own ?? yaml.find((block) => block.page === 'README.md' && has('edges')(block)))!.text;
}

const folder = folderWith();
/** The local authority of these tests. */
const { EDGEPROOF_HOME: before } = process.env;
process.env['EDGEPROOF_HOME'] = join(folder, 'home');
afterAll(() => {
  if (before === undefined) delete process.env['EDGEPROOF_HOME'];
  else process.env['EDGEPROOF_HOME'] = before;
});

/** What configurations name beside them. */
beforeAll(async () => {
  expect(await edgeproof(['cert', 'shop.test'], folder)).toMatchObject({ code: 0 });
  writeFileSync(join(folder, 'partners.pem'), readFileSync(join(root, 'fixtures/every_module/partners.pem')));
});

/** Findings about a configuration of which the page shows only a part. */
const OF_PARTS = new Set(['edge.no_edges', 'edge.unused_backend']);

describe('configurations', () => {
  const others = ['cases', 'agents', 'identities', 'properties', 'simulation'].map(has);
  const edges = yaml.filter(
    (block) => !others.some((isOther) => isOther(block)) && !Array.isArray(parse(block.text)),
  );

  it('are on many pages', () => {
    expect(edges.length).toBeGreaterThan(4);
  });

  it.each(titled(yaml.filter(has('properties'))))('%s: has no findings', (name, { text }) => {
    expect(readProperties({ name, text })).toMatchObject({ diagnostics: [] });
  });

  it.each(titled(edges))('%s: has no findings', async (_name, block) => {
    const isWhole = has('edges')(block);
    const path = join(folder, 'shown.yaml');
    writeFileSync(path, isWhole ? block.text : `${block.text}edges: { https: {} }\n`);
    const { diagnostics } = await loadConfig(path);
    const found = diagnostics.filter(({ code }) => isWhole || !OF_PARTS.has(code));
    expect(renderDiagnostics(found, { color: false })).toBe('');
  });
});

describe('scenarios', () => {
  it.each(titled(yaml.filter((block) => has('simulation')(block) && !has('cases')(block))))(
    '%s is a simulation',
    (_name, { text }) => {
      const shown = parse(text) as { simulation: { arrivals: object[] } };
      const arrivals = shown.simulation.arrivals.map((each) => ({ request: '/', ...each }));
      const value = { edge: 'edge.yaml', ...shown, simulation: { ...shown.simulation, arrivals } };
      expect(checkScenario({ name: 'shown.yaml', value }).diagnostics).toEqual([]);
    },
  );

  it.each(titled(yaml.filter(has('cases'))))('%s passes', async (_name, { page, text }) => {
    writeFileSync(join(folder, 'edge.yaml'), edgeOf(page));
    writeFileSync(join(folder, 'shown.scenario.yaml'), text);
    const { stdout, stderr, code } = await edgeproof(['test', 'shown.scenario.yaml'], folder);
    expect([code, stdout + stderr]).toEqual([0, expect.stringMatching(/^[1-9]\d* passed {2}\(/m)]);
  });

  it('accepts the identities that a page shows', async () => {
    const shown = yaml.filter((block) => has('identities')(block) && !has('cases')(block));
    expect(shown).toHaveLength(1);
    const text = `${shown[0]!.text}edge: edge.yaml\ncases: [{ name: a, request: { path: /, as: alice }, expect: { status: 200 } }]\n`;
    writeFileSync(join(folder, 'edge.yaml'), edgeOf('docs/login.md'));
    writeFileSync(join(folder, 'identities.scenario.yaml'), text);
    expect(await edgeproof(['test', 'identities.scenario.yaml'], folder)).toMatchObject({ code: 0 });
  });
});

/** The command of each verb, as its file registers it. */
const verbs = new Map<string, Command>();
beforeAll(async () => {
  for (const name of VERB_NAMES) {
    const file = new URL(`../../src/cli/${name.replaceAll('-', '_')}.ts`, import.meta.url);
    const { register } = (await import(/* @vite-ignore */ file.href)) as VerbFile;
    const command = new Command(name);
    register(command);
    verbs.set(name, command);
  }
});

const wordsOf = (line: string) =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(([, one, two, bare]) => one ?? two ?? bare!);

/** Options of a command line that its verb does not have. */
function unknownOptions([name, ...words]: readonly string[]): readonly string[] {
  const verb = verbs.get(name!);
  if (verb === undefined) return [`the verb ${name}`];
  const command = verb.commands.find((each) => each.name() === words[0]) ?? verb;
  const known = new Set(command.options.flatMap(({ long, short }) => [long, short, '--help']));
  const options = words.map((word) => word.split('=')[0]!).filter((word) => /^--?[a-z]/i.test(word));
  return options.filter((option) => !known.has(option));
}

describe('command lines', () => {
  const printed = blocks
    .filter(({ language }) => language !== 'yaml' && language !== 'ts')
    .flatMap(({ page, text }) =>
      text
        .split(/\n|&&/)
        .map((line) => /^\s*(?:\$ )?(?:npx )?edgeproof ([a-z][^#]*)/.exec(line)?.[1])
        .filter((line) => line !== undefined)
        // What the shell takes for itself.
        .map(
          (line) =>
            [
              page,
              line
                .replace(/ (?:>>?|\||&) .*/, '')
                .replaceAll('$i', '1')
                .trim(),
            ] as const,
        ),
    );
  const mentioned = [...texts].flatMap(([page, text]) =>
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`edgeproof ([a-z][^`]*)`/g)].map(
      ([, line]) => [page, line!.replaceAll(/\s+/g, ' ')] as const,
    ),
  );

  it('are on many pages', () => {
    expect([printed.length, mentioned.length, verbs.size].every((count) => count > 12)).toBe(true);
  });

  it.each([...printed, ...mentioned])('%s: edgeproof %s', (_page, line) => {
    expect(unknownOptions(wordsOf(line).filter((word) => word !== '…'))).toEqual([]);
  });

  it.each(printed)('%s: edgeproof %s is valid', (_page, line) => {
    const program = new Command().exitOverride();
    const [name, ...args] = wordsOf(line);
    const verb = verbs.get(name!)!;
    verb.exitOverride().action(() => undefined);
    program.addCommand(verb);
    expect(() => program.parse([name!, ...args], { from: 'user' })).not.toThrow();
  });

  const rows = [...texts.get('docs/cli.md')!.matchAll(/^\| `([a-z-]+)[^|]*\| (.*) \|$/gm)].filter(
    ([, name]) => name !== 'verb',
  );

  it.each(rows.map(([, name, message]) => [name!, message!] as const))(
    'the row of %s in cli.md',
    (name, message) => {
      const codes = [...message.matchAll(/`(-[^`]*)`/g)].flatMap(([, code]) =>
        wordsOf(code!.replaceAll(/[[\]]/g, ' ')),
      );
      expect(unknownOptions([name, ...codes])).toEqual([]);
    },
  );

  it('cli.md has the table of exit codes', () => {
    const shown = EXIT_CODES.map(([code, cause]) => `| ${code} | ${cause} |`).join('\n');
    expect(texts.get('docs/cli.md')!).toContain(shown);
  });

  it('cli.md has a row for each verb', () => {
    const cli = texts.get('docs/cli.md')!;
    expect([...verbs.keys()].filter((name) => !cli.includes(`\`${name}`))).toEqual([]);
  });
});
