import { describe, expect, test } from 'vitest';
import { EvalError } from '../../../src/cel/index.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';
import { activation, evaluate, findings } from './exchange.ts';

const errorCode = (source: string): unknown => {
  const outcome = evaluate(source);
  return outcome instanceof EvalError ? outcome.code : outcome;
};

describe('every function', () => {
  const { rows } = scopeFor('on_http_response').functions;

  test.each(rows.map((row) => [`${row.name} ${row.kind}`, row.example] as const))(
    'the example of %s is true',
    (_name, example) => {
      expect(evaluate(example)).toBe(true);
    },
  );

  test('has a sentence and at least one overload, with ids that are unique', () => {
    const ids = rows.flatMap((row) => (row.kind === 'function' ? row.overloads.map((one) => one.id) : []));
    expect(new Set(ids).size).toBe(ids.length);
    const bare = rows.filter((row) => row.kind === 'function' && row.overloads.length === 0);
    const speechless = rows.filter((row) => !/^(?:[A-Z]|xx).*[.)]$/s.test(row.doc));
    expect([...bare, ...speechless]).toEqual([]);
  });

  test.each([
    'hasReqHeader getReqHeader hasResHeader getResHeader hasQueryParam getQueryParam hasReqCookie getReqCookie',
    'hasResCookie getResCookie inCidrRange inCidrRanges rand.double rand.int basic_auth.encode base64.encode',
    'base64.decode json.encode json.decode queryString.encode queryString.decode url.escape url.unescape url.parse',
    'hash.crc32 hash.crc64 hash.md5 hash.sha1 hash.sha256 hash.sha512 hash.xxhash64 secrets.get',
    'matches startsWith endsWith contains charAt size indexOf lastIndexOf substring replace split trim reverse lower',
    'upper lowerAscii upperAscii format decodeBase64 encodeBase64 decodeJson decodeQueryString escapeUrl unescapeUrl',
    'isJson isPrivateIp isQueryString isURL parseUrl strings.quote join slice flatten sort distinct encodeJson',
    'lists.range encodeQueryString getDate getDayOfMonth getDayOfWeek getMonth crc32 md5 sha256 xxhash64',
  ])('exists: %s', (names) => {
    const { functions } = scopeFor('on_http_response').functions;
    expect(names.split(' ').filter((name) => !functions.has(name))).toEqual([]);
  });

  test('macros of the policy language exist', () => {
    const { macros } = scopeFor('on_http_response').functions;
    const keys = ['all/2', 'exists/2', 'exists_one/2', 'filter/2', 'map/2', 'map/3', 'sort/3', 'sortBy/2'];
    expect(keys.filter((key) => !macros.has(key))).toEqual([]);
  });
});

describe('functions on the exchange', () => {
  test.each([
    ["getReqHeader('HOST')", ['shop.example']],
    ["getReqHeader('x-none')", []],
    ["hasReqHeader('X-None')", false],
    ["getQueryParam('tag')", ['a b', 'c']],
    ["getQueryParam('none')", []],
    ["hasQueryParam('page')", true],
    ["hasReqCookie('none')", false],
    ["getReqCookie('lane')", 'beta'],
    ["getReqCookie('lane').value", 'beta'],
    ["getReqCookie('theme')", 'dark'],
    ["getResCookie('session')", '2'],
    ["getResCookie('session').path", '/app'],
    ["getResCookie('session').same_site", 'Lax'],
    ["getResCookie('session').unparsed_attributes", { Partitioned: '' }],
    ["getResCookie('session').max_age == duration('90s')", true],
    ["has(getResCookie('session').expires)", false],
    ["res.cookies['session'].size()", 2],
    ["res.cookies['session'][1].path", '/'],
    ["getResHeader('Content-Type')", ['text/html; charset=utf-8']],
    // Names known only at run time are prepared then, with the same result.
    ["getReqHeader('HO' + 'st')", ['shop.example']],
    ['hasReqHeader(req.url.path)', false],
    ["getReqHeader(vars.size() == 0 ? 'X-TEAM' : '')", ['blue', 'green']],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });

  test('a missing cookie is an error, and testing for it is not', () => {
    expect(errorCode("getReqCookie('none')")).toBe('expr.absent');
    expect(errorCode("getResCookie('none').value")).toBe('expr.absent');
    expect(
      evaluate("hasReqCookie('__proto__') || hasResCookie('constructor') || hasQueryParam('toString')"),
    ).toBe(false);
  });

  test('functions of a later phase are unknown in an earlier one', () => {
    expect(findings("getReqHeader('host').size() > 0", 'on_tcp_connect').join()).toContain('getReqHeader');
    expect(findings("hasResHeader('x')", 'on_http_request').join()).toContain('hasResHeader');
    expect(findings("hasResHeader('x')", 'on_http_response')).toEqual([]);
  });
});

describe('addresses', () => {
  test.each([
    ["inCidrRange(conn.client_ip, '203.0.113.0/24')", true],
    ["inCidrRange(conn.client_ip, '203.0.112.0/24')", false],
    ["inCidrRange(conn.client_ip, '::/0')", false],
    ['inCidrRange(conn.client_ip, req.url.path)', false],
    ["inCidrRange(req.url.path, '0.0.0.0/0')", false],
    ["inCidrRange('2001:db8::1', '2001:db8::/32')", true],
    ["inCidrRanges(conn.client_ip, ['10.0.0.0/8', '203.0.113.0/25'])", true],
    ['inCidrRanges(conn.client_ip, [])', false],
    // Invalid ranges known only at run time are ignored.
    ["inCidrRanges(conn.client_ip, [req.url.path, '203.0.113.7/32'])", true],
    ["inCidrRanges(conn.client_ip, getReqHeader('x-team'))", false],
    ["inCidrRanges(req.url.path, ['0.0.0.0/0'])", false],
    ["inCidrRange(conn.server_ip, '198.51.100.0/24')", true],
    ['conn.client_ip.isPrivateIp()', false],
    ["['10.9.8.7', '172.31.0.1', '192.168.0.1'].all(ip, ip.isPrivateIp())", true],
    [
      "['172.32.0.1', '127.0.0.1', '169.254.1.1', 'fe80::1', 'fd00::1', 'x', ''].exists(ip, ip.isPrivateIp())",
      false,
    ],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toBe(expected);
  });

  test('an invalid constant range is an error, one with host bits a warning that still works', () => {
    expect(findings("inCidrRange(conn.client_ip, '203.0.113.0')").join()).toMatch(/^error expr.invalid_cidr/);
    expect(findings("inCidrRanges(conn.client_ip, ['10.0.0.0/8', '10/8'])").join()).toMatch(
      /^error expr.invalid_cidr/,
    );
    expect(findings("inCidrRange(conn.client_ip, '203.0.113.9/24')").join()).toMatch(
      /^warning expr.invalid_cidr/,
    );
    expect(evaluate("inCidrRange(conn.client_ip, '203.0.113.9/24')")).toBe(true);
    expect(evaluate("inCidrRanges(conn.client_ip, ['203.0.113.9/24'])")).toBe(true);
  });
});

const draws = (seed: number): readonly unknown[] => {
  const at = activation({ seed });
  return [evaluate('rand.double()', at), evaluate('rand.double()', at)];
};

describe('chance and secrets', () => {
  test('rand.int covers its range and nothing else', () => {
    const at = activation({ seed: 7 });
    const seen = new Set(Array.from({ length: 500 }, () => evaluate('rand.int(3, 6)', at)));
    expect(seen).toEqual(new Set([3, 4, 5, 6]));
    const bits = new Set(Array.from({ length: 50 }, () => evaluate('rand.int()', at)));
    expect(bits).toEqual(new Set([0, 1]));
    expect(evaluate('rand.int(-2, -2)')).toBe(-2);
  });

  test('rand.* uses the world’s randomness, drawn again each time', () => {
    expect(draws(1)).toEqual(draws(1));
    expect(draws(1)).not.toEqual(draws(2));
    const [first, second] = draws(1);
    expect(first).not.toEqual(second);
    expect(evaluate('rand.double() >= 0.0 && rand.double() < 1.0')).toBe(true);
  });

  test('impossible ranges and missing secrets are errors', () => {
    expect(errorCode('rand.int(2, 1)')).toBe('expr.invalid_argument');
    expect(errorCode('rand.int(0, 9223372036854775807)')).toBe('expr.limit_exceeded');
    expect(errorCode("secrets.get('demo', 'other')")).toBe('expr.absent');
    expect(errorCode("secrets.get('other', 'token')")).toBe('expr.absent');
  });
});

describe('strings and lists', () => {
  test.each([
    ["'a,b,c'.split(',', 2)", ['a', 'b']],
    ["'a b  c'.split()", ['a', 'b', '', 'c']],
    ["'a,b'.split(',', 0)", []],
    ["'a,b'.split(',', 9)", ['a', 'b']],
    ["'a,b'.split(',', -1)", ['a', 'b']],
    ["'aé😀'.split('')", ['a', 'é', '😀']],
    ["'ßÉŉk'.upper()", 'ßÉŉK'],
    ["'Ärger in Österreich, ÉCOLE, İSTANBUL, ЙОГА!'.lower()", 'ärger in österreich, école, istanbul, йога!'],
    ["'ΟΔΟΣ 😀A'.lower()", 'οδοσ 😀a'],
    ["getReqCookie('lane').secure", false],
    ["getResCookie('session').unparsed_attributes['Partitioned']", ''],
    ["base64.encode(b'a') + string(base64.decode('YQ=='))", 'YQ==a'],
    ['[3, 1, 2].sort(a, b, a > b)', [3, 2, 1]],
    ['[1.5, 2.0, 0.5].sort().map(x, string(x))', ['0.5', '1.5', '2']],
    ["['b', 'a', 'C'].sort()", ['C', 'a', 'b']],
    [
      "[{'n': 2, 'k': 'x'}, {'n': 1, 'k': 'y'}, {'n': 2, 'k': 'z'}].sortBy(e, e.n).map(e, e.k)",
      ['y', 'x', 'z'],
    ],
    ["[1, 1.0, 1u, 2, '1', [1], [1.0]].distinct().size()", 4],
    ['[1, [2, [3, [4]]]].flatten(2).size()', 4],
    ['[[1], [2]].flatten(0).size()', 2],
    ['[1, 2, 3].slice(0, 0)', []],
    ['lists.range(0)', []],
    ["['a', 'b'].join('-') + ['c'].join()", 'a-bc'],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });

  test.each([
    ["[1, 'a'].sort()", 'expr.no_such_overload'],
    ["[dyn(1), dyn('a')].sortBy(x, x)", 'expr.no_such_overload'],
    ['[1, 2].sort(a, b, 1 / (a - a) > 0)', 'expr.divide_by_zero'],
    ['[1, 2].slice(1, 3)', 'expr.index_out_of_range'],
    ['[1, 2].slice(-1, 1)', 'expr.index_out_of_range'],
    ['[[1]].flatten(-1)', 'expr.invalid_argument'],
    ['lists.range(-1)', 'expr.invalid_argument'],
    ['lists.range(conn.client_port * 2)', 'expr.limit_exceeded'],
    [
      'lists.range(conn.client_port).map(x, lists.range(conn.client_port)).size() > 0',
      'expr.budget_exceeded',
    ],
    ['lists.range(conn.client_port - 47000).map(x, [x]).distinct().size()', 'expr.budget_exceeded'],
    // Shared elements count each time: 8^6 of them when flattened.
    [
      'cel.bind(a, [[1,1,1,1,1,1,1,1]], cel.bind(b, [a,a,a,a,a,a,a,a], cel.bind(c, [b,b,b,b,b,b,b,b], cel.bind(d, [c,c,c,c,c,c,c,c], cel.bind(e, [d,d,d,d,d,d,d,d], [e,e,e,e,e,e,e,e].flatten(99).size())))))',
      'expr.limit_exceeded',
    ],
  ])('%s is %s', (source, code) => {
    expect(errorCode(source)).toBe(code);
  });
});
