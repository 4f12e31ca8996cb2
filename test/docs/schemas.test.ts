import { globSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
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

async function problemsOf(name: string, text: string): Promise<unknown> {
  const validate = validators.get(await kindOfFile(text))!;
  return validate(parse(text, { logLevel: 'error' })) ? [] : { name, errors: validate.errors };
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
  });
});
