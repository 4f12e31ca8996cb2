import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MATCHES_KEPT,
  TOO_LONG,
  replaceInBody,
  replaceMatches,
} from '../../src/filters/find_replace/algorithm.ts';
import { compilePattern, isPatternProblem, expand } from '../../src/regex/pattern.ts';
import { sized } from '../random.ts';

function replacement(source: string, to: string) {
  const from = compilePattern(source);
  if (isPatternProblem(from)) throw new Error(from.message);
  return { from, to };
}

function inText(body: string, pairs: readonly (readonly [string, string])[], limitBytes = 10_000) {
  const given = pairs.map(([source, to]) => replacement(source, to));
  const replaced = replaceInBody(Buffer.from(body), given, limitBytes);
  return typeof replaced === 'string'
    ? replaced
    : { ...replaced, bytes: Buffer.from(replaced.bytes).toString('utf8') };
}

describe('replacing in a body', () => {
  test('applies replacements in order, each to the previous result', () => {
    expect(
      inText('a b', [
        ['a', 'b'],
        ['b', 'c'],
      ]),
    ).toEqual({
      bytes: 'c c',
      count: 3,
      found: [
        { index: 0, matched: 'a' },
        { index: 1, matched: 'b' },
        { index: 1, matched: 'b' },
      ],
    });
  });

  test('inserts groups', () => {
    expect(inText('key=12; key=7', [['key=(\\d+)', '<$1>']])).toMatchObject({ bytes: '<12>; <7>', count: 2 });
  });

  test('advances by whole characters', () => {
    expect(inText('a😀b', [['x*', '-']])).toMatchObject({ bytes: '-a-😀-b-', count: 4 });
  });

  test('returns the same bytes without a match', () => {
    const body = Buffer.from('nothing here');
    expect(replaceInBody(body, [replacement('z', 'y')], 100)).toEqual({ bytes: body, count: 0, found: [] });
  });

  test('preserves all other bytes of a body that is not UTF-8', () => {
    const body = Buffer.from([0xff, 0x41, 0x00, 0xfe, 0x41, 0xc3]);
    const replaced = replaceInBody(body, [replacement('A', 'é')], 100);
    expect(replaced).toMatchObject({ bytes: Buffer.from([0xff, 0xc3, 0xa9, 0x00, 0xfe, 0xc3, 0xa9, 0xc3]) });
  });

  test('keeps a byte order mark', () => {
    expect(inText('\ufeffa', [['a', 'b']])).toMatchObject({ bytes: '\ufeffb' });
  });

  test('keeps only the first matches', () => {
    const replaced = inText('a'.repeat(1_000), [['a', '']]);
    expect(replaced).toMatchObject({ bytes: '', count: 1_000 });
    expect(typeof replaced === 'string' ? 0 : replaced.found.length).toBe(MATCHES_KEPT);
  });

  test.each([
    ['many matches', 'a'.repeat(1_000), 'a', 'b'.repeat(100)],
    ['one match, many references', 'a'.repeat(1_000), 'a+', '$0'.repeat(100)],
    ['what is left after the last match', `a${'b'.repeat(9_999)}`, 'a', 'cc'],
    ['bytes, not characters', 'a'.repeat(9_000), 'a', 'é'],
    ['a size that no text can have', 'a'.repeat(10_000), 'a*', '$0'.repeat(1_000_000)],
  ])('refuses a result that is too long: %s', (_what, body, from, to) => {
    expect(inText(body, [[from, to]])).toBe(TOO_LONG);
  });

  test('a reference to a short group of a long match is accepted', () => {
    expect(inText(`${'a'.repeat(9_000)}b`, [['a+(b)', '$1$1$1']])).toMatchObject({ bytes: 'bbb' });
  });
});

/** Replaces match by match; an empty match directly after a match is skipped. */
function replacedByHand(text: string, { from, to }: ReturnType<typeof replacement>): string {
  let made = '';
  let copied = 0;
  let last = -1;
  for (let at = 0; at <= text.length; at++) {
    const found = from.find(text, at);
    if (found === null) break;
    const { start, end } = found.groups[0]!;
    if (start < end || start !== last) {
      made += text.slice(copied, start) + expand(to, found);
      copied = end;
    }
    last = end;
    const isPair = start === end && (text.codePointAt(end) ?? 0) > 0xffff;
    at = start < end ? end - 1 : end + (isPair ? 1 : 0);
  }
  return made + text.slice(copied);
}

test('replaceMatches agrees with repeated searches', () => {
  const sources = fc.constantFrom('', 'a', 'a*', '(a)|(b)', '(?P<n>[ab]+)c?', '$', '^', '\\b', '.', '(?s).*');
  const templates = fc.constantFrom('', 'x', '$1', '${n}', '[$0]', '$$', '$', '${', '$2x');
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '\n', '😀'), maxLength: 20 });
  fc.assert(
    fc.property(sources, templates, texts, (source, to, text) => {
      const given = replacement(source, to);
      expect(replaceMatches(text, given, 10_000)).toMatchObject({ text: replacedByHand(text, given) });
    }),
    sized(5_000, 9),
  );
});
