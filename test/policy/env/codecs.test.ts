import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../any_text.ts';
import { compile, EvalError, type Outcome, type Value } from '../../../src/cel/index.ts';
import { declareScope, variable } from '../../../src/cel/scope.ts';
import { DYN, STRING } from '../../../src/cel/types.ts';
import { VALUE_TABLE } from '../../../src/policy/env/functions/table.ts';
import { decodeJson, encodeJson, textOf, valueOfPlain } from '../../../src/policy/env/json.ts';
import { formPairs, percentDecode, percentEncode } from '../../../src/policy/env/percent.ts';
import { evaluate } from './exchange.ts';
import { sized } from '../../random.ts';

interface Input {
  readonly text: string;
  readonly value: Value;
}

const SCOPE = declareScope<Input>({
  name: 'codecs',
  functions: VALUE_TABLE,
  variables: [variable<Input>('text', STRING, 'Text.'), variable<Input>('value', DYN, 'Value.')],
});

/** An expression over `text` and `value`, as a function. */
function over(source: string): (input: Partial<Input>) => Outcome {
  const { program, diagnostics } = compile(source, SCOPE);
  if (program === undefined) throw new Error(diagnostics.map((one) => one.message).join());
  return (input) => program.evaluate({ text: '', value: null, ...input });
}

const graphemes = fc.string({ unit: 'grapheme', maxLength: 60 });
const wildText = anyText({ maxLength: 60 });
const encodedText = fc.stringMatching(/^(?:[a-c+=&;%?#/ ]|%[0-9A-Fa-f]{2}|%[0-9A-Fa-f]){0,30}$/);

describe('base64', () => {
  test('encoding and decoding are inverse, and equal to Buffer', () => {
    const there = over('text.encodeBase64()');
    const back = over(
      'base64.decode(base64.encode(bytes(text))) == bytes(text) && text.encodeBase64().decodeBase64() == text',
    );
    fc.assert(
      fc.property(graphemes, (text) => {
        expect(there({ text })).toBe(Buffer.from(text, 'utf8').toString('base64'));
        expect(back({ text })).toBe(true);
      }),
      sized(1_000, 3),
    );
  });

  test.each(['a', 'a===', 'ab=c', 'a b=', 'YW-_', 'YWI=\n', 'Zm9=v', '====', 'YWJj='])(
    '%j is not base64',
    (text) => {
      expect(over('base64.decode(text)')({ text })).toMatchObject({ code: 'expr.invalid_argument' });
    },
  );

  test('base64.decode gives bytes, decodeBase64 a string; padding is needed', () => {
    expect(over('base64.decode(text)')({ text: '/w==' })).toEqual(new Uint8Array([255]));
    expect(over('text.decodeBase64()')({ text: '/w==' })).toMatchObject({
      message: 'the bytes are not UTF-8 text',
    });
    for (const source of ['base64.decode(text)', 'text.decodeBase64()'])
      expect(over(source)({ text: 'aGVsbG8' })).toMatchObject({ message: 'the text is not base64' });
    expect(over('base64.decode(text)')({ text: '' })).toEqual(new Uint8Array());
    expect(evaluate("base64.encode(b'\\xff')")).toBe('/w==');
  });

  test('a user name cannot contain a colon', () => {
    expect(evaluate("basic_auth.encode('Aladdin', 'open sesame')")).toBe(
      'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==',
    );
    expect(evaluate("basic_auth.encode('a:b', 'c')")).toMatchObject({ code: 'expr.invalid_argument' });
    expect(evaluate("basic_auth.encode('a', 'b:c')")).toBe(`Basic ${btoa('a:b:c')}`);
  });
});

describe('percent-encoding and queries', () => {
  test('escape is decoded by decodeURIComponent and by unescape, and has only unreserved characters', () => {
    const roundTrip = over(
      'text.escapeUrl().unescapeUrl() == text && url.unescape(url.escape(text)) == text',
    );
    fc.assert(
      fc.property(graphemes, (text) => {
        const encoded = percentEncode(text);
        expect(encoded).toMatch(/^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/);
        expect(decodeURIComponent(encoded)).toBe(text);
        expect(roundTrip({ text })).toBe(true);
      }),
      sized(1_000, 4),
    );
  });

  test('any text can be escaped, and unescape gives what decodeURIComponent gives or an error', () => {
    fc.assert(
      fc.property(fc.oneof(wildText, encodedText), (text) => {
        expect(percentDecode(percentEncode(text))).toBe(text.toWellFormed());
        let expected: string | null;
        try {
          expected = decodeURIComponent(text);
        } catch {
          expected = null;
        }
        expect(percentDecode(text)).toBe(expected);
      }),
      sized(2_000, 5),
    );
  });

  test('pairs of a query are those of URLSearchParams, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(graphemes, encodedText, wildText), (text) => {
        const query = text.toWellFormed();
        expect(formPairs(query)).toEqual([...new URLSearchParams(`?${query}`)]);
      }),
      sized(3_000, 6),
    );
  });

  test('a map becomes the same query as with URLSearchParams, and is decoded again', () => {
    const encode = over('queryString.encode(value)');
    const back = over('queryString.decode(queryString.encode(value)) == value');
    const flat = fc.dictionary(graphemes, graphemes, { maxKeys: 5, noNullPrototype: true });
    fc.assert(
      fc.property(flat, (record) => {
        const value = valueOfPlain(record);
        expect(encode({ value })).toBe(new URLSearchParams(record).toString());
        expect(back({ value })).toBe(true);
      }),
      sized(1_000, 7),
    );
  });

  test('is a query string exactly when a URL parser would leave it as it is', () => {
    const isQuery = over('text.isQueryString()');
    const queries = ['a', 'a=1&b=2', 'a=%20', '%41', 'x=/?:@', 'a[]=1'];
    const others = ['', '&', '=', 'a b', 'a=%', 'a=%2', 'a#b', 'ü', 'a="'];
    expect([...queries, ...others].filter((text) => isQuery({ text }) === true)).toEqual(queries);
  });
});

describe('JSON', () => {
  test('decoding and encoding give the same text', () => {
    const roundTrip = over('json.encode(json.decode(text))');
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium' }), (text) => {
        const canonical = JSON.stringify(JSON.parse(text));
        expect(roundTrip({ text })).toBe(canonical);
      }),
      sized(1_500, 8),
    );
  });

  test('isJson agrees with JSON.parse, decode is an error for the rest', () => {
    const isJson = over('text.isJson()');
    const almost = fc.stringMatching(/^[{}[\]",:0-9a-z\\ .eE+-]{0,12}$/);
    fc.assert(
      fc.property(almost, (text) => {
        let parses = true;
        try {
          JSON.parse(text);
        } catch {
          parses = false;
        }
        expect(isJson({ text })).toBe(parses);
        expect(decodeJson(text) instanceof EvalError).toBe(!parses);
      }),
      sized(2_000, 9),
    );
  });

  test.each([
    ["json.encode({1: 'a', true: [1u, 2.5, b'hi', null]})", '{"1":"a","true":[1,2.5,"aGk=",null]}'],
    ["json.encode(timestamp('2026-01-02T03:04:05.006Z'))", '"2026-01-02T03:04:05.006Z"'],
    ["json.encode(duration('90s'))", '"90s"'],
    ['json.encode(9007199254740993)', '9007199254740993'],
    ['json.encode(optional.of(1))', '1'],
    ['json.encode(req.url)', '"https://shop.example/v1/things?page=2&tag=a+b&tag=c"'],
    [
      'json.encode(req.cookies)',
      '{"lane":[{"name":"lane","value":"beta"},{"name":"lane","value":"old"}],"theme":[{"name":"theme","value":"dark"}]}',
    ],
    ["json.decode('{\"__proto__\": 1}')['__proto__']", 1],
    ['\'{"a": {"b": [1, "x"]}}\'.decodeJson().a.b[1]', 'x'],
    ["json.decode('7') == 7 && type(json.decode('7')) == double", true],
  ])('%s', (source, expected) => {
    const value = evaluate(source);
    expect(typeof expected === 'number' ? (value as { value: number }).value : value).toEqual(expected);
  });

  test('values without JSON, too deep or too large, are an error', () => {
    expect(evaluate("json.encode(double('NaN'))")).toMatchObject({ code: 'expr.invalid_argument' });
    expect(evaluate('json.encode(type(1))')).toMatchObject({ code: 'expr.invalid_argument' });
    expect(evaluate('json.encode(optional.none())')).toMatchObject({ code: 'expr.invalid_argument' });
    const deep = `${'['.repeat(65)}1${']'.repeat(65)}`;
    expect(decodeJson(deep)).toMatchObject({ code: 'expr.limit_exceeded' });
    expect(decodeJson(deep.slice(1, -1))).not.toBeInstanceOf(EvalError);
    expect(decodeJson('['.repeat(200_000))).toBeInstanceOf(EvalError);
    expect(encodeJson(['x'.repeat(600_000), 'x'.repeat(600_000)])).toMatchObject({
      code: 'expr.limit_exceeded',
    });
    // A list of lists that share their members has 2^40 elements when serialised.
    let shared: Value = ['x'];
    for (let level = 0; level < 40; level++) shared = [shared, shared];
    expect(encodeJson(shared)).toMatchObject({ code: 'expr.limit_exceeded' });
    expect(over('json.encode(value)')({ value: shared })).toMatchObject({ code: 'expr.budget_exceeded' });
  });

  test('plain data keeps integers, and refuses other values', () => {
    expect(valueOfPlain({ a: [1, 1.5, 2 ** 60, 'x', null, false] })).toMatchObject({
      a: [1, { value: 1.5 }, 2n ** 60n, 'x', null, false],
    });
    expect(valueOfPlain(() => 1)).toBeInstanceOf(EvalError);
    const circle: unknown[] = [];
    circle.push(circle);
    expect(valueOfPlain(circle)).toMatchObject({ code: 'expr.limit_exceeded' });
  });

  test('text of values', () => {
    expect(textOf(Uint8Array.of(104, 105))).toBe('hi');
    expect(textOf(null)).toBe('null');
    expect(textOf([1, 'a'])).toBe('[1,"a"]');
    expect(evaluate("dyn(req.url) == 'https://shop.example/v1/things?page=2&tag=a+b&tag=c'")).toBe(true);
  });
});
