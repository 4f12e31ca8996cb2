import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { brandingOf } from '../../../src/engine/branding.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';
import type { PolicyDocument } from '../../../src/policy/document/document.ts';
import { formatPolicy } from '../../../src/policy/document/format.ts';
import { type Shape, configShape } from '../../../src/policy/document/shape.ts';
import { ACTION_FACTS } from '../../../src/filters/table.ts';
import { policyText, withComments } from './documents.ts';
import { runs, sized } from '../../random.ts';

const setting = { branding: brandingOf('service') };

function formatted(text: string): string {
  const result = formatPolicy(text);
  if ('message' in result) throw new Error(`${result.message}: ${JSON.stringify(text)}`);
  return result.text;
}

/** The whole content of a policy, without positions. */
function meaning(document: PolicyDocument): unknown {
  return Object.values(document.phases).map((rules) =>
    rules.map(({ name, expressions, actions }) => ({
      name,
      expressions: expressions.map(({ text }) => text),
      actions: actions.map(({ type, config }) => ({ type, config })),
    })),
  );
}

/** Where a shape has expressions: JSON pointers, with `*` for the elements of a list. */
function expressionsOf({ kind, items, properties = {} }: Shape, at = ''): readonly string[] {
  if (kind === 'expression') return [at];
  return [
    ...(items === undefined ? [] : expressionsOf(items, `${at}/*`)),
    ...Object.entries(properties).flatMap(([name, member]) => expressionsOf(member, `${at}/${name}`)),
  ];
}

/** A value that has only an expression at a place. */
function valueWith([key, ...keys]: readonly string[]): unknown {
  if (key === undefined) return 'req.method';
  return key === '*' ? [valueWith(keys)] : { [key]: valueWith(keys) };
}

const EXPRESSION_FIELDS = Array.from(ACTION_FACTS.keys()).flatMap((type) =>
  expressionsOf(configShape(type)).map((at) => ({ type, at, config: valueWith(at.split('/').slice(1)) })),
);

describe('the canonical form', () => {
  it('has current names, ordered keys, blocks, quoted expressions and all comments', () => {
    const text = [
      '# yaml-language-server: $schema=./policy.json',
      'outbound: # the way back',
      '  - actions: [ { config: {algorithms: [br, gzip]}, type: compress } ]',
      'enabled: true',
      '',
      '# requests',
      'inbound:',
      '  # first',
      '  - actions:',
      '      - type: custom-response',
      '        config:',
      '          # the text',
      '          content: |',
      '            hello',
      '              world',
      '          status_code: 200 # fine',
      '    expressions:',
      "      - req.url.path.startsWith('/v1/')",
      '      - "a.matches(\\"\\\\d\\")"',
      '    name: 404',
      '',
    ].join('\n');
    expect(formatted(text)).toBe(
      [
        '# yaml-language-server: $schema=./policy.json',
        '',
        '# requests',
        'on_http_request:',
        '  # first',
        '  - name: 404',
        '    expressions:',
        `      - "req.url.path.startsWith('/v1/')"`,
        `      - 'a.matches("\\d")'`,
        '    actions:',
        '      - type: custom-response',
        '        config:',
        '          status_code: 200 # fine',
        '          # the text',
        '          body: |',
        '            hello',
        '              world',
        '',
        'on_http_response:',
        '  # the way back',
        '  - actions:',
        '      - type: compress-response',
        '        config:',
        '          algorithms:',
        '            - br',
        '            - gzip',
        '',
      ].join('\n'),
    );
  });

  it('has expressions of all actions in quotes, and texts not', () => {
    expect(EXPRESSION_FIELDS.map(({ type, at }) => `${type} ${at}`)).toEqual(
      expect.arrayContaining(['http-request /retry_condition', 'rate-limit /bucket_key/*']),
    );
    for (const { type, config } of EXPRESSION_FIELDS)
      expect(formatted(stringify({ on_http_request: [{ actions: [{ type, config }] }] }))).toMatch(
        /"req\.method"$/m,
      );
    const variables = { vars: [{ bucket_key: 'req.method' }] };
    const actions = [{ type: 'set-vars', config: variables }];
    expect(formatted(stringify({ on_http_request: [{ actions }] }))).toMatch(/: req\.method$/m);
  });

  it('of JSON is JSON', () => {
    const text = '{"inbound":[{"actions":[{"config":{"content":"x"},"type":"custom-response"}]}]}';
    expect(JSON.parse(formatted(text))).toEqual({
      on_http_request: [{ actions: [{ type: 'custom-response', config: { body: 'x' } }] }],
    });
  });

  it.each([
    ['tags', 'on_http_request:\n  - expressions: [!has(a)]\n'],
    ['broken YAML', 'on_http_request: [\n'],
    ['a list', '- a\n'],
  ])('refuses %s', (_name, text) => {
    expect(formatPolicy(text)).toHaveProperty('message');
  });

  it('keeps the order if there are aliases', () => {
    const text =
      'on_http_response:\n  - actions: &all\n      - { type: log, config: { metadata: { a: 1 } } }\non_http_request:\n  - actions: *all\n';
    expect(Object.keys(parse(formatted(text)) as object)).toEqual(['on_http_response', 'on_http_request']);
  });

  it('is idempotent, and keeps meaning and comments (property)', () => {
    let commented = 0;
    fc.assert(
      fc.property(policyText, fc.array(fc.nat(6), { minLength: 1, maxLength: 12 }), (plain, picks) => {
        const { text, comments } = withComments(plain, picks);
        const before = checkPolicy({ name: 'policy.yaml', text }, setting).document;
        expect(before).not.toBeNull();
        const once = formatted(text);
        const after = checkPolicy({ name: 'policy.yaml', text: once }, setting);
        expect(meaning(after.document!)).toEqual(meaning(before!));
        expect(after.diagnostics.filter(({ code }) => code.startsWith('policy.legacy'))).toEqual([]);
        expect(formatted(once)).toBe(once);
        for (const comment of comments) expect(once.split(comment)).toHaveLength(2);
        commented += comments.length;
      }),
      sized(150, 4),
    );
    expect(commented).toBeGreaterThan(runs(150) / 4);
  });
});
