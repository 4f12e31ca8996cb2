import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseForm, runTogether } from '../../src/webhooks/form.ts';
import { durationText, formatInstant, parseInstant } from '../../src/webhooks/instants.ts';
import { memberAt, parseJsonObject } from '../../src/http/json_object.ts';
import { spelledAs } from '../../src/webhooks/message.ts';
import { cpuMs } from '../cpu_time.ts';
import { sized } from '../random.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

describe('a form', () => {
  test('is parsed like by other parsers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))),
        (pairs) => {
          const text = new URLSearchParams(pairs).toString();
          expect(parseForm(bytes(text))).toEqual([...new URLSearchParams(text)]);
        },
      ),
      sized(300, 20_270_407),
    );
  });

  test.each(['a=%', 'a=%z1', 'a=%ff', '%C3=1'])('is refused when it is %j', (text) => {
    expect(parseForm(bytes(text))).toBeNull();
  });

  test('is refused with more parameters than any provider sends, which take seconds to read', () => {
    expect(parseForm(bytes('a&'.repeat(999)))).toHaveLength(999);
    expect(cpuMs(() => expect(parseForm(bytes('a&'.repeat(2_000_000)))).toBeNull())).toBeLessThan(300);
  });

  test('is refused when it is not UTF-8', () => {
    expect(parseForm(Buffer.from([0x61, 0x3d, 0xff]))).toBeNull();
  });

  test('is concatenated in order of name, equal values of a name once', () => {
    expect(
      runTogether([
        ['b', '2'],
        ['a', 'y'],
        ['a', 'x'],
        ['a', 'y'],
        ['B', '1'],
      ]),
    ).toBe('B1axayb2');
  });
});

describe('a JSON object', () => {
  test.each([
    ['{"a":1,"a":2}', null],
    ['{"a":1,"\\u0061":2}', null],
    ['{"a":{"b":1,"b":2}}', { a: { b: 2 } }],
    ['{"a":"\\"a\\":","b":["a:",{"a":1}]}', { a: '"a":', b: ['a:', { a: 1 }] }],
    ['[1]', null],
    ['null', null],
    ['1', null],
    ['{', null],
    ['', null],
  ])('of %j is %j', (text, value) => expect(parseJsonObject(bytes(text))).toEqual(value));

  test('is refused if a member is repeated, for any contents', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (object, pick) => {
        const text = JSON.stringify(object);
        const members = Object.entries(JSON.parse(text) as object);
        expect(parseJsonObject(bytes(text))).toEqual(JSON.parse(text));
        const [name, value] = members[pick % members.length]!;
        const twice = `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`;
        expect(parseJsonObject(bytes(twice))).toBeNull();
      }),
      sized(500, 20_270_408),
    );
  });

  test.each([
    ['lists', '{"a":[', '[],', '0]}'],
    ['objects', '{"a":[', '{"":0},', '0]}'],
    ['members', '{"a":0', ',"b":0', '}'],
  ])('is refused with more values than any provider sends: %s', (_name, begin, value, end) => {
    const of = (count: number) => bytes(begin + value.repeat(count) + end);
    expect(cpuMs(() => expect(parseJsonObject(of(1_000_000))).toBeNull())).toBeLessThan(300);
    if (value !== ',"b":0') expect(parseJsonObject(of(40_000))).not.toBeNull();
  });

  test('may have long texts, with anything in them', () => {
    const text = '[{"a":1,\\"'.repeat(50_000);
    expect(parseJsonObject(bytes(JSON.stringify({ a: text, b: { a: text } })))).toEqual({
      a: text,
      b: { a: text },
    });
  });

  test('returns own members only', () => {
    const object = parseJsonObject(bytes('{"a":{"b":1},"c":[1]}'))!;
    expect([memberAt(object, 'a.b'), memberAt(object, 'c.length'), memberAt(object, 'toString')]).toEqual([
      1,
      1,
      undefined,
    ]);
    expect(memberAt(object, 'a.constructor')).toBeUndefined();
  });
});

describe('an instant', () => {
  test('is parsed and formatted like by the platform', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2399, 11, 31) }), (ms) => {
        const iso = new Date(ms).toISOString();
        expect(formatInstant(ms, 'iso')).toBe(iso);
        expect(parseInstant(iso, 'iso')).toBe(ms);
        expect(parseInstant(iso.replace('Z', ''), 'iso')).toBe(ms);
        expect(parseInstant(formatInstant(ms, 'ms'), 'ms')).toBe(ms);
        expect(parseInstant(formatInstant(ms, 's'), 's')).toBe(Math.floor(ms / 1000) * 1000);
      }),
      sized(2000, 20_270_409),
    );
  });

  test.each([
    ['2020-01-01T00:11:12-08:00', Date.UTC(2020, 0, 1, 8, 11, 12)],
    ['2020-01-01T00:11:12+0530', Date.UTC(2019, 11, 31, 18, 41, 12)],
    ['2024-02-29 23:59:59.123456', Date.UTC(2024, 1, 29, 23, 59, 59, 123)],
  ])('%s is parsed with its zone', (text, ms) => expect(parseInstant(text, 'iso')).toBe(ms));

  test.each([
    '',
    '2020-13-01T00:00:00Z',
    '2020-01-01',
    '2020-01-01T24:00:00Z',
    '1600000000',
    '2020-01-01T00:00:00 Z',
  ])('%j is not an instant', (text) => expect(parseInstant(text, 'iso')).toBeNull());

  test.each(['', '-1', '1.5', ' 1', '1e3', '123456789012', '0x10', '١'])(
    '%j is invalid in seconds',
    (text) => {
      expect(parseInstant(text, 's')).toBeNull();
    },
  );

  test.each([
    [1500, '1.5 s'],
    [-60_000, '1 min'],
    [361_000, '6 min 1 s'],
    [3_600_000, '1 h'],
    [5_400_000, '1 h 30 min'],
    [259_200_000, '3 days'],
  ])('%d ms is formatted as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});

test.each([
  ['https://a.test/x?y', 'with_port', 'https://a.test:443/x?y'],
  ['http://a.test/x', 'with_port', 'http://a.test:80/x'],
  ['https://a.test:8443/x', 'with_port', 'https://a.test:8443/x'],
  ['https://a.test:8443/x:1', 'without_port', 'https://a.test/x:1'],
  ['https://[::1]:8443/x', 'without_port', 'https://[::1]/x'],
  ['https://[::1]/x', 'without_port', 'https://[::1]/x'],
  ['https://[::1]/x', 'with_port', 'https://[::1]:443/x'],
  ['https://a.test/%3Ax%2fy%20?z=%40', 'reserved_decoded', 'https://a.test/:x/y%20?z=@'],
] as const)('%s spelled %s is %s', (url, spelling, wanted) => expect(spelledAs(url, spelling)).toBe(wanted));
