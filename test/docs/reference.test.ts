import { readFileSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { AGENT_SESSION_FIELDS } from '../../docs/reference_pages/event_pages.ts';
import { ENTRY_POINTS, exportedSubpaths } from '../../docs/reference_pages/library_page.ts';
import { fileOf } from '../../docs/reference_pages/markdown.ts';
import { referencePages } from '../../docs/reference_pages/pages.ts';
import { ANALYSIS_CODES } from '../../src/analysis/codes.ts';
import { EXIT_CODES } from '../../src/cli/exit_codes.ts';
import { programOf } from '../../src/cli/program.ts';
import { VERB_NAMES } from '../../src/cli/verbs.ts';
import { EDGE_CODES } from '../../src/edge/document/codes.ts';
import { brandingOf } from '../../src/engine/branding.ts';
import { ENGINE_REASONS, STREAM_REASONS } from '../../src/engine/refusals.ts';
import { agentSessionObject } from '../../src/events/agent_session.ts';
import { AUDIT_OBJECTS } from '../../src/events/event_types.ts';
import { TRAFFIC_EVENTS } from '../../src/events/fields.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../src/filters/table.ts';
import { DOCUMENT_CODES } from '../../src/policy/codes/document_codes.ts';
import { RUNTIME_CODES } from '../../src/policy/codes/runtime_codes.ts';
import { scopeFor } from '../../src/policy/env/scopes.ts';
import { SCENARIO_CODES } from '../../src/simulator/document/codes.ts';

// Whatever the code knows is on a page, and the pages are those of the code.

const ROOT = new URL('../../', import.meta.url);
const pages = new Map(await referencePages());
const page = (name: string): string => pages.get(name) ?? '';
const all = [...pages.values()].join('\n');
const schemaOf = (name: string): object =>
  JSON.parse(readFileSync(new URL(`schema/${name}.json`, ROOT), 'utf8')) as object;

test('the files are those that the code gives', () => {
  const folder = new URL('docs/reference/', ROOT);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  expect(files.toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [name, text] of pages)
    expect([name, readFileSync(new URL(name, folder), 'utf8')]).toEqual([name, text]);
});

/** The keys of all maps of a schema, each once; those below a key that `isElsewhere` selects are left out. */
function keysOf(schema: unknown, isElsewhere: (key: string) => boolean = () => false): readonly string[] {
  const keys = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [word, below] of Object.entries(value)) {
      if (word !== 'properties' && word !== 'definitions') visit(below);
      else
        for (const [key, each] of Object.entries(below as object)) {
          if (word === 'properties') keys.add(key);
          if (!isElsewhere(key)) visit(each);
        }
    }
  };
  visit(schema);
  return [...keys];
}

/** The keys that have no row in a page. */
function withoutRow(keys: readonly string[], text: string): readonly string[] {
  return keys.filter((key) => !text.includes(`\n| \`${key}\` |`));
}

describe('every key has a row', () => {
  test('a missing one is found', () => {
    expect(withoutRow(['capacity', 'rate'], 'x\n| `rate` | duration |')).toEqual(['capacity']);
    expect(keysOf({ properties: { a: { items: { properties: { b: {} } } } } })).toEqual(['a', 'b']);
  });

  test('edge file', () => {
    // Its definitions are those of policies written in place, which have pages of their own.
    const { properties, definitions: policies } = schemaOf('edge') as Record<string, object>;
    const own = Object.keys((schemaOf('policy') as Record<string, object>)['definitions']!);
    expect(Object.keys(policies ?? {}).filter((name) => !own.includes(name) && name !== 'policy')).toEqual(
      [],
    );
    const keys = keysOf({ properties }, (key) => MODULE_FACTS.has(key) || key === 'properties');
    expect(keys.length).toBeGreaterThan(40);
    expect(withoutRow(keys, page('edge_file.md'))).toEqual([]);
  });

  test.each(['scenario', 'property'])('%s file', (name) => {
    const keys = keysOf(schemaOf(name));
    expect(keys.length).toBeGreaterThan(5);
    expect(withoutRow(keys, page(`${name}_file.md`))).toEqual([]);
  });

  const modules = (schemaOf('edge') as { properties: Record<string, object> }).properties['edges'];
  const moduleSchemas = (type: string): unknown[] => {
    const found: unknown[] = [];
    JSON.stringify(modules, (key, value: unknown) => {
      if (key === type) found.push(value);
      return value;
    });
    return found;
  };
  test.each([...MODULE_FACTS.keys()])('module %s', (type) => {
    const keys = keysOf(moduleSchemas(type));
    expect(keys).toContain('enabled');
    expect(withoutRow(keys, page(`modules/${fileOf(type)}`))).toEqual([]);
  });

  const { definitions } = schemaOf('policy') as unknown as {
    definitions: Record<string, { properties: { config: object } }>;
  };
  test.each([...ACTION_FACTS.keys()])('action %s', (type) => {
    const own = definitions[type]!.properties.config;
    expect(withoutRow(keysOf(own), page(`actions/${fileOf(type)}`))).toEqual([]);
  });

  test('actions have keys at all', () => {
    const counts = [...ACTION_FACTS.keys()].map(
      (type) => keysOf(definitions[type]!.properties.config).length,
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
  });

  test('limits, defaults and codes are those of the check', () => {
    const row = /\n\| `capacity` \| (.*)\n/.exec(page('actions/rate_limit.md'))![1];
    expect(row).toMatch(
      /Example: `100` \| integer \| \*\*required\*\* \| 1 to 2,000,000,000 \| .*\[2215\].*\[2234\]/,
    );
    const breaker = /\n\| `num_buckets` \| (.*)\n/.exec(page('modules/circuit_breaker.md'))![1];
    expect(breaker).toMatch(
      /integer \| `10` \| 1 to 128 .*\[out_of_range\]\(\.\.\/edge_codes\.md#edgeout_of_range\)/,
    );
  });
});

const { errorCode } = brandingOf('service');
const CODES: Readonly<Record<string, readonly string[]>> = {
  'policy_codes.md': [...DOCUMENT_CODES, ...RUNTIME_CODES].map(({ number }) => errorCode(number)),
  'edge_codes.md': Object.keys(EDGE_CODES),
  'scenario_codes.md': Object.keys(SCENARIO_CODES),
  'analysis_codes.md': Object.keys(ANALYSIS_CODES),
  'reasons.md': [
    ...Object.keys(ENGINE_REASONS),
    ...Object.keys(STREAM_REASONS),
    ...[...MODULE_FACTS.values()].flatMap(({ reasons }) => Object.keys(reasons)),
    ...[...ACTION_FACTS.values()].flatMap(({ type, reasons }) =>
      Object.keys(reasons).map((code) => `${type.replaceAll('-', '_')}.${code}`),
    ),
  ],
};

test.each(Object.entries(CODES))('%s has every code', (name, codes) => {
  expect(codes.length).toBeGreaterThan(20);
  expect(codes.filter((code) => !page(name).includes(`\`${code}\``))).toEqual([]);
});

test('a code in the source is on a page', () => {
  const found = new Set<string>();
  const source = new URL('src/', ROOT);
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(new URL(file, source), 'utf8');
    for (const [, code] of text.matchAll(/'((?:edge|scenario|analysis|expr)\.(?!yaml'|test')[a-z_]+)'/g))
      found.add(code!);
  }
  expect(found.size).toBeGreaterThan(100);
  expect([...found].filter((code) => !all.includes(`\`${code}\``))).toEqual([]);
});

test('every type and field of events', () => {
  const text = page('events.md');
  for (const [type, fields] of Object.entries(TRAFFIC_EVENTS)) {
    expect(text).toContain(`## \`${type}\``);
    expect(withoutRow(Object.keys(fields), text)).toEqual([]);
  }
  const audit = AUDIT_OBJECTS.flatMap((kind) =>
    ['created', 'updated', 'deleted'].map((action) => `${kind}_${action}.v0`),
  );
  expect(audit.filter((type) => !text.includes(`\`${type}\``))).toEqual([]);
  for (const kind of AUDIT_OBJECTS) expect(page('api_objects.md')).toContain(`\n## \`${kind}\`\n`);
  const facts = { type: 'start', sessionId: 'a', credentialId: null, startedMs: 0, stoppedMs: null } as never;
  expect(Object.keys(agentSessionObject(facts, String)).toSorted()).toEqual(
    Object.keys(AGENT_SESSION_FIELDS).toSorted(),
  );
});

test('every variable, function and macro', () => {
  const text = page('expressions.md');
  const { variables, functions } = scopeFor('on_http_response');
  expect([...variables.keys()].filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  const macros = functions.rows.filter(({ kind }) => kind === 'macro');
  expect(macros.length).toBeGreaterThan(5);
  expect(macros.filter(({ name }) => !text.includes(`.${name}(`) && !text.includes(`${name}(`))).toEqual([]);
});

test('every verb, flag and exit code', async () => {
  const text = page('commands.md');
  const { commands } = await programOf(VERB_NAMES);
  const parts = commands.concat(commands.flatMap((command) => command.commands));
  expect(parts.length).toBeGreaterThan(30);
  for (const command of parts) {
    const flags = command.options.filter(({ hidden }) => !hidden).map((option) => option.flags);
    expect(flags.filter((flag) => !text.includes(`| \`${flag.replaceAll('|', '\\|')}\` |`))).toEqual([]);
  }
  expect(VERB_NAMES.filter((name) => !text.includes(`\n### \`${name}\`\n`))).toEqual([]);
  expect(EXIT_CODES.filter(([number, cause]) => !text.includes(`| ${number} | ${cause} |`))).toEqual([]);
});

describe('the library', () => {
  let text = '';
  beforeAll(() => {
    text = page('library.md');
  });

  test('has all entry points of the package', () => {
    expect(Object.keys(ENTRY_POINTS).toSorted()).toEqual([...exportedSubpaths()].toSorted());
  });

  test.each(Object.entries(ENTRY_POINTS))('%s: every exported name', async (name, [file]) => {
    const exported = Object.keys((await import(/* @vite-ignore */ new URL(file, ROOT).href)) as object);
    const types = [
      ...readFileSync(new URL(file, ROOT), 'utf8').matchAll(/^export type \{([^}]*)\}/gm),
    ].flatMap(([, list]) => list!.split(',').map((each) => each.trim().replace(/^.* as /, '')));
    const section = text.split(`\n## \`${name}\`\n`)[1]!.split('\n## ')[0]!;
    const names = [...exported, ...types.filter((each) => each !== '')];
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((each) => !section.includes(`### \`${each}\`\n`))).toEqual([]);
  });
});
