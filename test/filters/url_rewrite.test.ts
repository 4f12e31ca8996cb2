import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../any_text.ts';
import { parseTarget } from '../../src/http/target.ts';
import {
  type UrlParts,
  encodeUrl,
  readRewritten,
  rewriteUrl,
  wholeUrl,
} from '../../src/filters/url_rewrite/algorithm.ts';
import { compilePattern, isPatternProblem } from '../../src/regex/pattern.ts';
import { sized } from '../random.ts';

function pattern(source: string) {
  const compiled = compilePattern(source);
  if (isPatternProblem(compiled)) throw new Error(compiled.message);
  return compiled;
}

const BEFORE: UrlParts = { scheme: 'https', authority: 'api.example.com', path: '/v1/users', query: 'id=7' };
const URL_BEFORE = 'https://api.example.com/v1/users?id=7';

test('the whole URL is scheme, authority, path and query', () => {
  expect(wholeUrl(BEFORE)).toBe(URL_BEFORE);
  expect(wholeUrl({ ...BEFORE, query: undefined })).toBe('https://api.example.com/v1/users');
  expect(wholeUrl({ ...BEFORE, query: '' })).toBe('https://api.example.com/v1/users?');
});

describe('rewriting', () => {
  test.each([
    ['a part of the path', '/v1/', '/api/1/', 'https://api.example.com/api/1/users?id=7', ['/v1/']],
    [
      'groups',
      '^https://([^/]+)/(.*)$',
      'http://$1/x/$2',
      'http://api.example.com/x/v1/users?id=7',
      [URL_BEFORE],
    ],
    [
      'every match',
      '[a-z]',
      'x',
      'xxxxx://xxx.xxxxxxx.xxx/x1/xxxxx?xx=7',
      'httpsapiexamplecomvusersid'.split(''),
    ],
    ['nothing where nothing matches', '/v2/', '/x/', URL_BEFORE, []],
    ['a name that is longer than its group', '(v)1', '$1x', 'https://api.example.com//users?id=7', ['v1']],
    ['braces', '(v)1', '${1}x', 'https://api.example.com/vx/users?id=7', ['v1']],
    ['a dollar sign', 'v1', '$$', 'https://api.example.com/$/users?id=7', ['v1']],
    ['letter case with a flag', '(?i)API', 'www', 'https://www.example.com/v1/users?id=7', ['api']],
  ])('replaces %s', (_what, from, to, url, matches) => {
    expect(rewriteUrl(URL_BEFORE, pattern(from), to)).toEqual({ url, matches });
  });

  test('without a pattern the whole URL is replaced, including dollar signs literally', () => {
    expect(rewriteUrl(URL_BEFORE, null, 'https://b.example/$1')).toEqual({
      url: 'https://b.example/$1',
      matches: [URL_BEFORE],
    });
  });

  test('an excessively long result is refused', () => {
    const long = `https://a.example/${'a'.repeat(60_000)}`;
    expect(rewriteUrl(long, pattern('a'), 'aa')).toEqual({ problem: 'is longer than 65536 characters' });
    expect(rewriteUrl(long, pattern('.*'), '$0'.repeat(100_000))).toHaveProperty('problem');
  });

  test('agrees with JavaScript for patterns with the same meaning', () => {
    const sources = fc.constantFrom(
      'a',
      'b+',
      '(a)(b)?',
      '/([a-z]+)/',
      '[0-9]+',
      '^https?',
      'c$',
      'a|ab',
      '(x)|(y)',
    );
    const templates = fc.constantFrom('', 'z', '$1', '<$2$1>', '$$', '/n/');
    const urls = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', 'x', 'y', '/', '0', '9', '?', '='),
      maxLength: 25,
    });
    fc.assert(
      fc.property(sources, templates, urls, (source, to, rest) => {
        const url = `http://h/${rest}`;
        const groups = new RegExp(`${source}|`).exec('')!.length - 1;
        // A group that does not exist is empty to RE2 and stays as text in JavaScript.
        const template = to.replaceAll(/\$([1-9])/g, (reference, number) =>
          Number(number) > groups ? '' : reference,
        );
        expect(rewriteUrl(url, pattern(source), to)).toEqual({
          url: url.replaceAll(new RegExp(source, 'g'), template),
          matches: [...url.matchAll(new RegExp(source, 'g'))].map(([matched]) => matched),
        });
      }),
      sized(5_000, 3986),
    );
  });
});

describe('encoding', () => {
  test.each([
    ['https://a.example/San Francisco', 'https://a.example/San%20Francisco'],
    ['/a%20b', '/a%20b'],
    ['/100%', '/100%25'],
    ['/é', '/%C3%A9'],
    ['/😀', '/%F0%9F%98%80'],
    ['/\ud800', '/%EF%BF%BD'],
    ['/a\r\nset-cookie: x', '/a%0D%0Aset-cookie:%20x'],
    ['/"<>\\^`{|}', '/%22%3C%3E%5C%5E%60%7B%7C%7D'],
    ['https://[::1]:80/?a=b&c#d', 'https://[::1]:80/?a=b&c#d'],
  ])('%j becomes %s', (text, encoded) => {
    expect(encodeUrl(text)).toBe(encoded);
  });

  test('produces only URI characters and is idempotent', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const encoded = encodeUrl(text);
        expect(encoded).toMatch(/^[!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]*$/);
        expect(encodeUrl(encoded)).toBe(encoded);
      }),
      sized(2_000, 1),
    );
  });
});

describe('parsing rewritten URLs', () => {
  test.each([
    ['https://api.example.com/v2?x=1', { path: '/v2', query: 'x=1' }],
    ['/v2', { path: '/v2', query: undefined }],
    ['/v2?', { path: '/v2', query: '' }],
    ['https://api.example.com', { path: '/', query: undefined }],
    ['https://api.example.com?a', { path: '/', query: 'a' }],
    ['https://api.example.com/a#b', { path: '/a', query: undefined }],
    ['https://api.example.com/a/../b//c', { path: '/b/c', query: undefined }],
    ['https://api.example.com/a b', { path: '/a%20b', query: undefined }],
    [
      'http://other.example:81/',
      { scheme: 'http', authority: 'other.example:81', path: '/', query: undefined },
    ],
  ])('%s', (text, parts) => {
    expect(readRewritten(text, BEFORE)).toEqual({ ...BEFORE, ...parts });
  });

  test.each([
    [''],
    ['v2'],
    ['//evil.example/'],
    ['ftp://a.example/'],
    ['javascript:alert(1)'],
    ['https://user:pw@a.example/'],
    ['https://a.example:99999/'],
    ['https://a b/'],
    ['https://a.example/%00'],
    ['https://a.example/x%2F..%2Fadmin'],
  ])('refuses %j', (text) => {
    expect(readRewritten(text, BEFORE)).toHaveProperty('problem');
  });

  test('a path is canonical or refused', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const read = readRewritten(`https://api.example.com/${text}`, BEFORE);
        const path = 'problem' in read ? '/' : read.path;
        expect(parseTarget(path)).toMatchObject({ path, query: undefined });
      }),
      sized(3_000, 2),
    );
  });
});
