import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseUrl, urlOfRequest } from '../../../src/policy/env/urls.ts';
import { activation, evaluate, REQUEST, untrue, valuesOf } from './exchange.ts';
import { sized } from '../../random.ts';

describe('parsing', () => {
  test.each([
    [
      'https://a.example',
      { scheme: 'https', host: 'a.example', path: '', query: '', uri: '', port: undefined },
    ],
    [
      'HTTPS://A.Example:8443/B?c=D#e',
      {
        scheme: 'https',
        host: 'a.example',
        port: 8443,
        path: '/B',
        query: 'c=D',
        fragment: 'e',
        uri: '/B?c=D',
      },
    ],
    [
      'http://u:p@[2001:db8::1]:80?x',
      { host: '[2001:db8::1]', port: 80, path: '', query: 'x', userPassword: 'u:p', uri: '?x' },
    ],
    ['ftp://h/a//b/../c', { scheme: 'ftp', path: '/a//b/../c' }],
    ['https://h:/x', { host: 'h', port: undefined, authority: 'h:' }],
  ])('%s', (text, expected) => {
    expect(parseUrl(text)).toMatchObject(expected);
  });

  test.each([
    '',
    'a.example/x',
    '//a.example/x',
    '/x?y',
    'mailto:a@b.example',
    'https://',
    'https:///x',
    'https://a b/',
    'https://a.example/ü"',
    'https://a.example/%',
    'https://a.example/%2',
    'https://a.example:99999/',
    'https://a.example:x/',
    'https://[::1/',
    'https://[1.2.3.4]/',
    'https://a:1:2/',
    '1ht://a/',
    'https://a\u0000b/',
    'https://a.example/\n',
  ])('%j is not a URL', (text) => {
    expect(parseUrl(text)).toBeNull();
    expect(evaluate(`'${JSON.stringify(text).slice(1, -1)}'.isURL()`)).toBe(false);
  });

  test('parts equal those of the WHATWG parser if a URL is in normal form', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
    const urls = fc
      .record({
        scheme: fc.constantFrom('http', 'https'),
        host: fc.oneof(
          fc.array(label, { minLength: 2, maxLength: 3 }).map((parts) => parts.join('.')),
          fc.constant('[2001:db8::7]'),
        ),
        port: fc.option(fc.integer({ min: 1, max: 65_535 }).filter((port) => port !== 80 && port !== 443)),
        path: fc.array(fc.stringMatching(/^(?:[A-Za-z0-9_~-]|%2F|%C3%BC){1,6}$/), { maxLength: 4 }),
        query: fc.option(fc.stringMatching(/^(?:[a-c]{1,3}=[A-Za-z0-9+]{0,3}&?){0,3}$/), { nil: undefined }),
        fragment: fc.option(fc.stringMatching(/^[a-z]{1,4}$/), { nil: undefined }),
      })
      .map(({ scheme, host, port, path, query, fragment }) => {
        const tail = `${query === undefined ? '' : `?${query}`}${fragment === undefined ? '' : `#${fragment}`}`;
        return `${scheme}://${host}${port === null ? '' : `:${port}`}/${path.join('/')}${tail}`;
      });
    fc.assert(
      fc.property(urls, (text) => {
        const ours = parseUrl(text)!;
        const theirs = new URL(text);
        expect(ours.scheme).toBe(theirs.protocol.slice(0, -1));
        expect(ours.host).toBe(theirs.hostname);
        expect(ours.port).toBe(theirs.port === '' ? undefined : Number(theirs.port));
        expect(ours.path).toBe(theirs.pathname);
        expect(`?${ours.query}`.replace(/^\?$/, '')).toBe(theirs.search);
        expect(`#${ours.fragment}`.replace(/^#$/, '')).toBe(theirs.hash);
        for (const name of theirs.searchParams.keys()) {
          expect(ours.queryParams[name]).toEqual(theirs.searchParams.getAll(name));
        }
        expect(Object.keys(ours.queryParams).length).toBe(new Set(theirs.searchParams.keys()).size);
      }),
      sized(2_000, 11),
    );
  });

  test('every accepted URL is accepted by the WHATWG parser', () => {
    const near = fc.stringMatching(/^https?:\/\/[a-z0-9.:@[\]-]{0,12}[/?#]?[a-z%0-9/?#\\ "]{0,8}$/);
    fc.assert(
      fc.property(near, (text) => {
        // That parser reads a last label of digits as an IPv4 address, RFC 3986 as a name.
        const isNumeric = /^https?:\/\/[^/?#]*\.?\d[^./?#]*(?:[/?#:]|$)/.test(text);
        const isOurs = parseUrl(text) !== null && !isNumeric && !text.includes('@');
        expect(!isOurs || URL.canParse(text)).toBe(true);
      }),
      sized(3_000, 12),
    );
  });
});

describe('the URL of a request', () => {
  test('all its parts', () => {
    const at = activation({ request: { authority: 'Shop.Example:8443', query: 'a=1&a=2&b' } });
    const parts = {
      'req.url': 'https://Shop.Example:8443/v1/things?a=1&a=2&b',
      'req.url.raw': 'https://Shop.Example:8443/v1/things?a=1&a=2&b',
      'req.url.authority': 'Shop.Example:8443',
      'req.url.host': 'shop.example',
      'req.url.port': 8443,
      'req.url.path': '/v1/things',
      'req.url.raw_path': '/v1//th%69ngs',
      'req.url.query': 'a=1&a=2&b',
      'req.url.scheme': 'https',
      'req.url.uri': '/v1/things?a=1&a=2&b',
      'req.url.fragment': '',
      'req.host': 'Shop.Example:8443',
      "req.url.query_params['a'].join('+') + string(size(req.url.query_params['b']))": '1+21',
      'has(req.url.user_password)': false,
    };
    expect(valuesOf(Object.keys(parts), at)).toEqual(parts);
  });

  test('has a port only if written, a question mark only with a query', () => {
    expect(evaluate('has(req.url.port)')).toBe(false);
    expect(evaluate('req.url.port')).toMatchObject({ code: 'expr.absent' });
    expect(urlOfRequest({ ...REQUEST, query: undefined }).raw).toBe('https://shop.example/v1/things');
    expect(urlOfRequest({ ...REQUEST, query: '' }).raw).toBe('https://shop.example/v1/things?');
    expect(urlOfRequest({ ...REQUEST, query: 'a' }).uri).toBe('/v1/things?a');
  });

  test('is a string wherever one is required', () => {
    const sources = [
      "req.url == 'https://shop.example/v1/things?page=2&tag=a+b&tag=c'",
      "req.url.startsWith('https://')",
      'req.url in [req.url.raw]',
      "req.url.parseUrl().host == 'shop.example'",
      "('' + req.url).size() == req.url.size()",
      "req.url.matches('tag=a')",
      'type(req.url) == string',
    ];
    expect(untrue(sources)).toEqual([]);
  });
});
