import { globSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fromJSONSchema } from 'zod';
import { STARTERS } from '../../src/cli/starters.ts';
import { kindOfFile } from '../../src/project_files/file_kind.ts';

// The schemas for editors: strict validators take them, and they accept what the checker accepts.

const ROOT = new URL('../../', import.meta.url);
const KINDS = ['edge', 'policy', 'scenario', 'property'] as const;
const schemaOf = (kind: string) =>
  JSON.parse(readFileSync(new URL(`schema/${kind}.json`, ROOT), 'utf8')) as {
    readonly $id: string;
    readonly $schema: string;
  };
const validatorOf = (kind: string) => new Ajv({ strict: true, allErrors: true }).compile(schemaOf(kind));
const validators = new Map(KINDS.map((kind) => [kind as string, validatorOf(kind)]));

it.each(KINDS)('%s.json has what a catalogue of schemas requires', (kind) => {
  expect(schemaOf(kind)).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: `https://json.schemastore.org/edgeproof-${kind}.json`,
    title: expect.stringContaining('edgeproof'),
    description: expect.stringMatching(/\.$/),
  });
});

it('the page about the command line has the entries of a catalogue for them', () => {
  const page = readFileSync(new URL('docs/cli.md', ROOT), 'utf8');
  const [, json = ''] = /^```json\n(\[[^]*?)^```$/m.exec(page)!;
  const entries = JSON.parse(json) as readonly Readonly<Record<string, unknown>>[];
  expect(entries.map(({ url }) => url)).toEqual(KINDS.map((kind) => schemaOf(kind).$id));
  for (const entry of entries) {
    // The rules of the catalogue: https://json.schemastore.org/schema-catalog.json
    expect(Object.keys(entry)).toEqual(['name', 'description', 'fileMatch', 'url']);
    expect(String(entry['name'])).not.toMatch(/schema/i);
    expect(entry['fileMatch']).toEqual(expect.arrayContaining([expect.stringMatching(/^\*\.[a-z]+\.yaml$/)]));
  }
});

/** A second validator, which refuses schemas with keywords that it does not know. */
const others = new Map(
  KINDS.map((kind) => [kind as string, fromJSONSchema(schemaOf(kind) as never)] as const),
);

async function problemsOf(name: string, text: string): Promise<unknown> {
  const kind = await kindOfFile(text);
  const value: unknown = parse(text, { logLevel: 'error' });
  const validate = validators.get(kind)!;
  if (!validate(value)) return { name, errors: validate.errors };
  const { success, error } = others.get(kind)!.safeParse(value);
  return success ? [] : { name, errors: error.issues };
}

const FILES = globSync(
  '{fixtures/{every_module,sample,scenarios,policies}/*.{yaml,yml},fixtures/policies/*.json}',
  {
    cwd: ROOT,
  },
);

describe('what the checker accepts is valid', () => {
  it.each(FILES)('%s', async (name) => {
    expect(await problemsOf(name, readFileSync(new URL(name, ROOT), 'utf8'))).toEqual([]);
  });

  it.each(STARTERS.filter(({ path }) => !path.startsWith('.')))('$path of init', async ({ path, text }) => {
    expect(await problemsOf(path, text)).toEqual([]);
  });

  it('and files that include others, or have their policies elsewhere', async () => {
    const route = '{ match_type: path_prefix, match: /, traffic_policy: { file: policy.yml } }';
    for (const text of [
      'include: [a.yaml]\nbackends: {}\n',
      `edges: { https: { a: { hostports: ['a.test:443'], routes: [${route}] } } }\n`,
    ])
      expect(await problemsOf('edge.yaml', text)).toEqual([]);
  });
});

describe('mistakes are found', () => {
  it.each([
    ['an unknown key', 'edges: { https: { a: { hostport: [] } } }\n'],
    [
      'an unknown action in a policy',
      "edges: { https: { a: { hostports: ['a.test:443'], routes: [{ match_type: path_prefix, match: /, traffic_policy: { on_http_request: [{ actions: [{ type: dney }] }] } }] } } }\n",
    ],
  ])('%s', (_, text) => {
    expect(validators.get('edge')!(parse(text))).toBe(false);
    expect(others.get('edge')!.safeParse(parse(text)).success).toBe(false);
  });
});
