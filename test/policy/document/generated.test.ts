import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { testsByNumber } from '../../../docs/code_tests.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { ACTION_FACTS } from '../../../src/filters/table.ts';
import { ACTION_SCHEMAS } from '../../../src/filters/action_schemas.ts';
import { EXPRESSION_CODES } from '../../../src/policy/codes/expression_codes.ts';
import { codesMarkdown } from '../../../src/policy/codes/page.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';
import { policyEditorSchema, policyJsonSchema } from '../../../src/policy/document/schema.ts';
import { parse } from 'yaml';
import * as fc from 'fast-check';
import { policyText } from './documents.ts';
import { sized } from '../../random.ts';

const root = new URL('../../../', import.meta.url);

it('the JSON Schema is up to date', () => {
  const file = readFileSync(new URL('src/policy/document/policy.schema.json', root), 'utf8');
  expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(policyJsonSchema())));
});

it('the page of codes is up to date', () => {
  const file = readFileSync(new URL('docs/reference/policy_codes.md', root), 'utf8');
  expect(file).toBe(codesMarkdown(brandingOf('service'), testsByNumber()));
});

it('every action has a schema and facts', () => {
  const types = Object.keys(ACTION_SCHEMAS).sort();
  expect([...ACTION_FACTS.keys()].sort()).toEqual(types);
});

it('the checker reads the same as the schemas', () => {
  fc.assert(
    fc.property(policyText, (text) => {
      const { document } = checkPolicy({ name: 'p', text }, { branding: brandingOf('service') });
      const actions = Object.values(document!.phases).flatMap((rules) =>
        rules.flatMap((rule) => rule.actions),
      );
      for (const { type, config } of actions) {
        // A config with defaults is unchanged when its schema reads it again.
        const schema: z.ZodType = ACTION_SCHEMAS[type];
        expect(schema.parse(config)).toEqual(config);
      }
    }),
    sized(200, 4),
  );
});

it('the schema of editors accepts what the checker accepts, in current documents', () => {
  const schema = z.fromJSONSchema(policyEditorSchema() as Parameters<typeof z.fromJSONSchema>[0]);
  const fixtures = new URL('fixtures/policies/', root);
  for (const name of readdirSync(fixtures).filter((each) => each !== 'broken')) {
    const document = parse(readFileSync(new URL(name, fixtures), 'utf8')) as object;
    const result = schema.safeParse(document);
    expect([name, result.error?.message ?? 'fine']).toEqual([name, 'fine']);
    expect(schema.safeParse({ ...document, on_request: [] }).success).toBe(false);
  }
});

it('the schema of editors accepts lists and their only entries', () => {
  const schema = z.fromJSONSchema(policyEditorSchema() as Parameters<typeof z.fromJSONSchema>[0]);
  const withKeys = (keys: unknown): boolean => {
    const config = {
      issuer: { allow_list: [{ value: 'a' }] },
      http: { tokens: [{ type: 'jwt', method: 'header', name: 'x' }] },
      jws: { allowed_algorithms: ['RS256'], keys },
    };
    return schema.safeParse({ on_http_request: [{ actions: [{ type: 'jwt-validation', config }] }] }).success;
  };
  const sources = { additional_jkus: ['https://a.test/keys'] };
  const forms = [{ sources }, [{ sources }], [{ sources: [sources, sources] }, { sources }]];
  expect(forms.map(withKeys)).toEqual([true, true, true]);
  expect([[], [{ sources: 5 }], { other: sources }].map(withKeys)).toEqual([false, false, false]);
});

it('every code of the expression engine has a sentence', () => {
  const codes = new Set<string>();
  const folders = ['src/cel', 'src/policy/env'].map((folder) => new URL(folder, root));
  for (const entry of folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }),
  )) {
    if (!entry.name.endsWith('.ts')) continue;
    const text = readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8');
    for (const [, code] of text.matchAll(/'(expr\.[a-z_]+)'/g)) codes.add(code!);
  }
  expect([...codes].filter((code) => !Object.hasOwn(EXPRESSION_CODES, code))).toEqual([]);
});
