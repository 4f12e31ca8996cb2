import { describe, expect, it } from 'vitest';

import { compile, EvalError, stringMap } from '../../src/cel/index.ts';
import type { Outcome } from '../../src/cel/index.ts';
import { request, SCOPE, Url } from './request_scope.ts';
import type { Request } from './request_scope.ts';

function evaluate(source: string, over: Partial<Request> = {}): Outcome {
  const { program, diagnostics } = compile(source, SCOPE);
  if (program === undefined) throw new Error(diagnostics.map((one) => one.message).join('; '));
  return program.evaluate(request(over));
}

describe('strings with fields', () => {
  it.each([
    ["req.url == 'https://shop.example/api/v1'", true],
    ["req.url.path == '/api/v1'", true],
    ["req.url.startsWith('https://')", true],
    ["req.url in ['https://shop.example/api/v1']", true],
    ["req.url + '?x' == 'https://shop.example/api/v1?x'", true],
    ['size(req.url) == 27', true],
    ['has(req.url.port)', false],
    ['req.url', 'https://shop.example/api/v1'],
    ['[req.url]', ['https://shop.example/api/v1']],
    ['cel.bind(u, req.url, u.path)', '/api/v1'],
    ["(req.method == 'GET' ? req.url : req.url).path", '/api/v1'],
    ["(req.method == 'GET' ? req.url : 'none')", 'https://shop.example/api/v1'],
    ["dyn(req.url) == 'https://shop.example/api/v1'", true],
    ["req.url.matches('shop[.]example')", true],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });

  it('has its optional fields if they are present', () => {
    expect(evaluate('req.url.port == 81', { url: new Url('x', '/', 81) })).toBe(true);
    expect(evaluate('req.url.port == 81')).toMatchObject({
      code: 'expr.absent',
      span: { start: 0, end: 12 },
    });
  });
});

describe('header maps', () => {
  it.each([
    ["req.headers['User-Agent'][0]", 'Mozilla/5.0 GPTBot/1.0'],
    ["'USER-AGENT' in req.headers", true],
    ["dyn(req.headers)['Host'][0]", 'shop.example'],
    ["cel.bind(k, 'Ho' + 'st', req.headers[k])", ['shop.example']],
    ['req.headers.host', ['shop.example']],
    ['has(req.headers.cookie)', false],
    ["req.headers.exists(name, name == 'host')", true],
    ["'constructor' in req.headers || has(req.headers.__proto__)", false],
    ["req.headers[?'x'].hasValue()", false],
    ['size(req.headers)', 2],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });

  it('is an error at the place of a missing header', () => {
    expect(evaluate("req.headers['x'][0] == 'a'")).toMatchObject({
      code: 'expr.no_such_key',
      span: { start: 0, end: 16 },
    });
  });
});

describe('errors', () => {
  it.each([
    ["req.content_length > 5 || req.method == 'GET'", true],
    ["req.content_length > 5 && req.method == 'POST'", false],
    ["req.method == 'GET' || req.content_length > 5", true],
    ['[1, 0].exists(x, 1 / x > 0)', true],
    ['[0, 1].exists(x, 1 / x > 0)', true],
    ['[0, -1].all(x, 1 / x > 0)', false],
    ['cel.bind(x, 1 / 0, true)', true],
    ['optional.of(1).orValue(1 / 0)', 1],
  ])('are absorbed by `%s`', (source, expected) => {
    expect(evaluate(source)).toBe(expected);
  });

  it.each([
    "req.content_length > 5 || req.method == 'POST'",
    '!(req.content_length > 5)',
    'req.content_length != 5',
    "vars.missing != 'a'",
    '1 / 0 != 1',
    '[1 / 0] != [1]',
    "{'a': 1 / 0} != {}",
    "int('x') in [1] || false",
    "timestamp('x') != timestamp(0)",
    "dyn(1) < 'a'",
  ])('are never true: `%s`', (source) => {
    expect(evaluate(source)).toBeInstanceOf(EvalError);
  });

  it('of an activation that throws or has wrong types are returned as values', () => {
    const { program } = compile("req.method != 'GET' && req.url.path.startsWith('/')", SCOPE);
    const throwing = {
      get method(): string {
        throw new Error('no such thing');
      },
    };
    expect(program?.evaluate(throwing as never)).toMatchObject({ code: 'expr.internal' });
    expect(program?.evaluate({} as never)).toBeInstanceOf(EvalError);
    expect(program?.evaluate(undefined as never)).toBeInstanceOf(EvalError);
    expect(program?.evaluate({ method: 5 } as never)).toBeInstanceOf(EvalError);
  });

  it('of a reentrant evaluation are returned as values', () => {
    const { program } = compile('vars.again == [1] || req.tags.exists(t, t == vars.again)', SCOPE);
    const vars = stringMap();
    const again = request({ vars });
    let inner: Outcome = null;
    Object.defineProperty(vars, 'again', {
      get: () => {
        inner = program!.evaluate(again);
        return 'x';
      },
    });
    expect(program?.evaluate(again)).toBe(false);
    expect(inner).toBeInstanceOf(EvalError);
  });
});
