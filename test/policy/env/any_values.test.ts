import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../any_text.ts';
import {
  CelMap,
  compile,
  Double,
  Duration,
  EvalError,
  headerFields,
  Optional,
  type Program,
  stringMap,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '../../../src/cel/index.ts';
import { canonicalKey } from '../../../src/cel/values.ts';
import type { Activation } from '../../../src/policy/env/activation.ts';
import { Cookie } from '../../../src/policy/env/cookies.ts';
import { encodeJson, textOf } from '../../../src/policy/env/json.ts';
import { LANGUAGE_ROWS } from '../../../src/policy/env/functions/table.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';
import { parseUrl } from '../../../src/policy/env/urls.ts';
import { valueText } from '../../../src/cel/value_text.ts';
import { activation } from './exchange.ts';
import { sized } from '../../random.ts';

const SCOPE = scopeFor('on_http_response');

const filled = (make: () => Record<string, Value>, entries: readonly (readonly [string, Value])[]): Value => {
  const map = make();
  for (const [key, value] of entries) map[key] = value;
  return map;
};

const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'hex',
    'base64',
    ',',
    '10.0.0.1',
    '10.0.0.0/8',
    '::1',
    'https://a.example/x?y=1',
    'a=1&b',
    'aGk=',
    '[1]',
    '%',
    '%s %d',
    'host',
    '__proto__',
    '\ud800',
  ),
  anyText({ maxLength: 8 }),
);
const key = fc.oneof(text, fc.constantFrom<Value>(1, true, new Uint(1)));
const { value: anyValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constantFrom<Value>(2n ** 60n, 9_007_199_254_740_991)),
    fc.constantFrom<Value>(
      null,
      true,
      false,
      new Uint(3),
      new Double(1.5),
      new Double(Number.NaN),
      new Double(-0),
      new Double(Infinity),
      new Timestamp(0, 5),
      new Duration(-1, 500_000_000),
      new TypeValue('int'),
      new Optional(undefined),
      new Optional('x'),
      Uint8Array.of(0xff, 0x41),
      new Cookie('n', 'v'),
      parseUrl('https://a.example/'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(text, { maxLength: 4 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 3 }).map((entries) => filled(stringMap, entries)),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'x-b'), tie('value')), { maxLength: 3 })
      .map((entries) => filled(headerFields, entries)),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 3 })
      .map((entries) => new CelMap(new Map(entries.map(([at, value]) => [canonicalKey(at)!, [at, value]])))),
  ),
}));

const ofLanguage: ReadonlySet<unknown> = new Set(LANGUAGE_ROWS);
/** Functions of the language have tests of their own. */
const ROWS = SCOPE.functions.rows.filter((row) => !ofLanguage.has(row));

/** Calls of every function of the policy language on `vars.a`, `vars.b` …, in each style and number of arguments. */
const CALLS: readonly (readonly [source: string, program: Program<Activation>])[] = ROWS.flatMap((row) => {
  if (row.kind === 'macro' || !/^[A-Za-z]/.test(row.name) || row.name === 'in') return [];
  const sources = row.overloads.flatMap(({ params, style }) => {
    const args = ['vars.a', 'vars.b', 'vars.c', 'vars.d'].slice(0, params.length);
    const forms: string[] = [];
    if (style !== 'method') forms.push(`${row.name}(${args.join(', ')})`);
    if (style !== 'global') forms.push(`${args[0]}.${row.name}(${args.slice(1).join(', ')})`);
    return forms;
  });
  return [...new Set(sources)].map((source) => {
    const { program, diagnostics } = compile(source, SCOPE);
    if (program === undefined) throw new Error(`${source}: ${diagnostics[0]?.message}`);
    return [source, program] as const;
  });
});

function isSound(outcome: unknown): boolean {
  return outcome instanceof EvalError
    ? outcome.code !== 'expr.internal' && outcome.message !== ''
    : outcome !== undefined;
}

describe('any values', () => {
  test('passed to any function give a value or an error, and are not changed', () => {
    expect(CALLS.length).toBeGreaterThan(60);
    fc.assert(
      fc.property(fc.tuple(anyValue, anyValue, anyValue, anyValue), ([a, b, c, d]) => {
        const before = [a, b, c, d].map((value) => valueText(value));
        const at = activation();
        for (const [name, value] of Object.entries({ a, b, c, d })) at.setVar(name, value);
        const unsound = CALLS.filter(([, program]) => !isSound(program.evaluate(at))).map(
          ([source]) => source,
        );
        expect(unsound).toEqual([]);
        expect([a, b, c, d].map((value) => valueText(value))).toEqual(before);
      }),
      sized(1_000, 19),
    );
  });

  test('have valid JSON, a text, and a literal form, or an error', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const json = encodeJson(value);
        expect(isSound(json) && isSound(textOf(value))).toBe(true);
        expect(() => void (typeof json === 'string' && JSON.parse(json))).not.toThrow();
        expect(valueText(value)).not.toContain('[object');
      }),
      sized(3_000, 20),
    );
  });
});
