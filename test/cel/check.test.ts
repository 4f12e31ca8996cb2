import { describe, expect, it } from 'vitest';

import { BOOL, check, compile, declareScope, extendTable, STANDARD } from '../../src/cel/index.ts';
import { ADDRESS_FUNCTIONS } from '../../src/policy/env/functions/addresses.ts';
import { SCOPE } from './request_scope.ts';

/** Summary of a diagnostic: code, the text under its span, and the source after its fix. */
function findings(source: string) {
  return check(source, SCOPE, { wants: BOOL }).diagnostics.map(({ code, span, fix }) => {
    const at = source.slice(span?.start, span?.end);
    if (fix === undefined) return { code, at };
    return { code, at, fixed: source.slice(0, fix.span.start) + fix.text + source.slice(fix.span.end) };
  });
}

describe('check', () => {
  it.each([
    ["req.metod == 'GET'", 'expr.unknown_variable', 'metod', "req.method == 'GET'"],
    ["rek.method == 'GET'", 'expr.unknown_variable', 'rek', "req.method == 'GET'"],
    ["req.url.pth == '/'", 'expr.no_such_field', 'pth', "req.url.path == '/'"],
    ["req.url.startWith('/')", 'expr.unknown_function', 'startWith', "req.url.startsWith('/')"],
    ['req.method == 5', 'expr.never_equal', 'req.method == 5', "req.method == '5'"],
    [
      "has(req.content_length) && req.content_length == '5'",
      'expr.never_equal',
      "req.content_length == '5'",
      'has(req.content_length) && req.content_length == 5',
    ],
    [
      "has(req.headers.host) && req.headers.host == 'x'",
      'expr.list_against_string',
      "req.headers.host == 'x'",
      "has(req.headers.host) && 'x' in req.headers.host",
    ],
    ['req.tags', 'expr.not_bool', 'req.tags', 'size(req.tags) > 0'],
    ['req.method', 'expr.not_bool', 'req.method', "req.method != ''"],
    ["req.method = 'GET'", 'expr.syntax', '=', "req.method == 'GET'"],
    ['req.method == /admin/x', 'expr.syntax', '/admin/x', "req.method == '/admin/x'"],
    [
      "'user-agent' in req.headers && 'x' in req.headers.user-agent",
      'expr.unknown_variable',
      'req.headers.user-agent',
      "'user-agent' in req.headers && 'x' in req.headers['user-agent']",
    ],
    [
      "'x' in req.headers.x-content-type",
      'expr.unknown_variable',
      'req.headers.x-content-type',
      "'x' in req.headers['x-content-type']",
    ],
    [
      "'x' in req.headers.x-forwarded-for",
      'expr.syntax',
      'req.headers.x-forwarded-for',
      "'x' in req.headers['x-forwarded-for']",
    ],
    [
      "req.headers.content-type.exists(type, type.contains('json'))",
      'expr.unknown_variable',
      'req.headers.content-type',
      "req.headers['content-type'].exists(type, type.contains('json'))",
    ],
    [
      'has(req.headers.user-agent)',
      'expr.syntax',
      'has(req.headers.user-agent)',
      "'user-agent' in req.headers",
    ],
    ["req.method == 'GET' and true", 'expr.syntax', 'and', "req.method == 'GET' && true"],
    [
      "'user-agent' in req.headers && 'GPTBot' in req.headers['user-agent']",
      'expr.exact_membership',
      "'GPTBot' in req.headers['user-agent']",
      "'user-agent' in req.headers && req.headers['user-agent'].exists(value, value.contains('GPTBot'))",
    ],
  ])('finds the error in `%s` and its fix', (source, code, at, fixed) => {
    expect(findings(source)).toEqual([{ code, at, fixed }]);
    // A complete fix must leave no diagnostics.
    expect(findings(fixed).filter((one) => one.code === code)).toEqual([]);
  });

  it.each([
    ['res.status_code == 200', 'expr.unavailable', 'res.status_code'],
    ['req', 'expr.unknown_variable', 'req'],
    ['req.method.startsWith(1)', 'expr.no_such_overload', 'startsWith'],
    ["startsWith(req.method, 'G')", 'expr.no_such_overload', 'startsWith'],
    ['size(req.method, 1) > 0', 'expr.no_such_overload', 'size'],
    ["req.method + 1 == 'a'", 'expr.no_such_overload', 'req.method + 1'],
    ['req.headers.host - agent == 1', 'expr.unknown_variable', 'agent'],
    ["req.method.matches('(a')", 'expr.invalid_pattern', "'(a'"],
    [String.raw`req.method.matches('(a)\\1')`, 'expr.invalid_pattern', String.raw`'(a)\\1'`],
    ["req.headers['host'][0] == 'x'", 'expr.may_be_missing', "req.headers['host']"],
    ["req.method == 'GET' || true", 'expr.constant_condition', 'true'],
    ['1 < 2', 'expr.constant_condition', '1 < 2'],
    ['!req.method', 'expr.not_bool', 'req.method'],
    ['req.method && true', 'expr.not_bool', 'req.method'],
    ["(req.method == 'GET' ? 1 : 'a') == 1", 'expr.no_such_overload', "req.method == 'GET' ? 1 : 'a'"],
    ['req.tags.all(x, x)', 'expr.not_bool', 'x'],
    ['req.method.all(x, true)', 'expr.no_such_overload', 'req.method'],
    ['req.tags.all(1, true)', 'expr.syntax', '1'],
    ["Url{path: 'a'} == req.url", 'expr.no_messages', "Url{path: 'a'}"],
  ])('finds the error in `%s`', (source, code, at) => {
    expect(findings(source)).toContainEqual(expect.objectContaining({ code, at }));
  });

  it.each([
    "'host' in req.headers && req.headers['host'][0] == 'x'",
    "!('host' in req.headers) || req.headers['Host'][0] == 'x'",
    "'host' in req.headers ? req.headers['host'][0] == 'x' : false",
    "has(req.headers.host) && req.headers['host'][0] == 'x'",
    "req.headers[?'host'].orValue(['']).exists(h, h == 'x')",
    "req.url == 'https://x/' && req.url.path == '/'",
    "req.url.path in ['/', '/a'] && req.url in ['https://x/']",
    'has(req.content_length) && req.content_length > 5',
    "vars.a == 1 || vars['b'] == 'x'",
    "cel.bind(u, req.url, u.path.startsWith('/') && u.size() > 3)",
  ])('has no findings for `%s`', (source) => {
    expect(findings(source)).toEqual([]);
  });

  it('reports all errors of an expression at once', () => {
    expect(findings("req.metod == 'a' && req.url.pth == 'b'")).toHaveLength(2);
  });

  it('reports an invalid range in a list at its place', () => {
    const scope = declareScope({
      ...SCOPE,
      variables: [...SCOPE.variables.values()],
      functions: extendTable(STANDARD, ADDRESS_FUNCTIONS),
    });
    const source = "inCidrRanges(req.method, ['10.0.0.0/8', '10.0.0.0/33'])";
    const [finding] = check(source, scope).diagnostics;
    expect(finding).toMatchObject({ code: 'expr.invalid_cidr', severity: 'error' });
    expect(source.slice(finding?.span?.start, finding?.span?.end)).toBe("'10.0.0.0/33'");
  });

  it('returns a program exactly when there are no errors', () => {
    expect(compile("req.method == 'GET'", SCOPE).program).toBeDefined();
    expect(compile("req.headers['host'][0] == 'x'", SCOPE).program).toBeDefined();
    expect(compile('req.metod', SCOPE).program).toBeUndefined();
    expect(compile('(', SCOPE).program).toBeUndefined();
  });
});

it('a comparison that is never true is suggested as a whole', () => {
  expect(check('req.method == 5', SCOPE, { wants: BOOL }).diagnostics).toMatchObject([
    {
      message: 'a string is compared with an int; they are never equal',
      hint: "did you mean `req.method == '5'`?",
    },
  ]);
});
