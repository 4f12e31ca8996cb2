import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EvalError, formatType, type Outcome } from '../../../src/cel/index.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';
import { compileTemplate, type Template } from '../../../src/policy/env/template.ts';
import { splitTemplate } from '../../../src/policy/env/template_split.ts';
import { compileTemplateTree } from '../../../src/policy/env/template_tree.ts';
import type { Activation } from '../../../src/policy/env/activation.ts';
import { activation } from './exchange.ts';
import { IS_FULL, sized } from '../../random.ts';
import { cpuMs } from '../../cpu_time.ts';

const SCOPE = scopeFor('on_http_response');

function template(source: string): Template<Activation> {
  const { template: made, diagnostics } = compileTemplate(source, SCOPE);
  if (made === undefined) throw new Error(diagnostics.map((one) => one.message).join('; '));
  return made;
}

const value = (source: string): Outcome => template(source).evaluate(activation());
const text = (source: string): string | EvalError => template(source).text(activation());

describe('text with expressions', () => {
  test.each([
    ['', ''],
    ['plain $1 {x} }', 'plain $1 {x} }'],
    ['$', '$'],
    ['{$}', '{$}'],
    ['a${1}b', 'a1b'],
    ['${req.method} ${req.url.path}', 'GET /v1/things'],
    ['${req.method}${req.method}', 'GETGET'],
    // Braces and quotes inside an expression.
    ["<${ {'a': 1}['a'] }>", '<1>'],
    ["<${ '}' }>", '<}>'],
    ['<${ "}\'{" }>', "<}'{>"],
    ["<${ 'it\\'s }' }>", "<it's }>"],
    ["<${ '''a}'b''' }>", "<a}'b>"],
    ["<${ r'\\' }>", '<\\>'],
    ['<${ R"\\" + \'}\' }>', '<\\}>'],
    ["<${ string(br'\\') }>", '<\\>'],
    ["<${ {'r': '}'}['r'] }>", '<}>'],
    ["<${ req.method // a } in a comment\n + '!' }>", '<GET!>'],
    ["<${ {'a': {'b': '${x}'}}.a.b }>", '<${x}>'],
    // A dollar sign before the opening escapes it.
    ['$${req.method}', '${req.method}'],
    ['a$${b}${req.method}$${', 'a${b}GET${'],
    ['$$${1}', '$${1}'],
    ["${'$'}${1}", '$1'],
    ['$1 $2 ${req.method}', '$1 $2 GET'],
  ])('%j', (source, expected) => {
    expect(text(source)).toBe(expected);
  });

  test.each([
    ['at ${conn.ts.start}', 'at 2026-02-03T04:05:06.25Z'],
    ["${duration('90s')} ${1.5} ${2.0} ${7u} ${true} ${null} ${b'hi'}", '90s 1.5 2 7 true null hi'],
    ['${[1, "a"]} ${{"a": [true]}}', '[1,"a"] {"a":[true]}'],
    [
      '${req.url} ${req.user_agent} ${conn.client_ip} ${req.content_type}',
      'https://shop.example/v1/things?page=2&tag=a+b&tag=c curl/8.5.0 203.0.113.7 application/json',
    ],
    ["${dyn(1)}${req.headers['x-team']}", '1["blue","green"]'],
    ['${type(1)}', 'int'],
  ])('prints %s', (source, expected) => {
    expect(text(source)).toBe(expected);
  });
});

describe('a template that is exactly one expression', () => {
  test('keeps its type', () => {
    expect(value('${1 + 1}')).toBe(2);
    expect(value('${req.headers["x-team"]}')).toEqual(['blue', 'green']);
    expect(value('${conn.ts.start}')).toMatchObject({ seconds: 1_770_091_506 });
    expect(value('${false}')).toBe(false);
    expect(formatType(template('${1 + 1}').type)).toBe('int');
    expect(formatType(template('${req.url}').type)).toBe('string');
  });

  test('loses it with any text around it, including a space', () => {
    expect(value('${1 + 1} ')).toBe('2 ');
    expect(value('${1}${2}')).toBe('12');
    expect(formatType(template(' ${1}').type)).toBe('string');
  });
});

describe('a template without expressions', () => {
  test('is constant text', () => {
    for (const source of ['', 'plain', '$${x}', '$1 $$ {}']) {
      const made = template(source);
      expect(made.constant).toBe(source.replace('$${', '${'));
      expect(made.evaluate(undefined as never)).toBe(made.constant);
      expect(made.text(undefined as never)).toBe(made.constant);
    }
    expect(template('a${1}').constant).toBeUndefined();
  });
});

describe('findings have their place in the template', () => {
  test.each([
    ['hello ${req.methud} and ${1 + "a"}', ['methud', '1 + "a"']],
    ['x ${req.url.path.startsWith(1)}', ['startsWith']],
    ["ü😀 ${inCidrRange(conn.client_ip, '10/8')}", ["'10/8'"]],
    ['a ${req.method', ['${']],
    ["a ${ 'open } ", ['${']],
    ['a ${} b', ['${}']],
    ['a ${ \n } b', ['${ \n }']],
  ])('%j', (source, expected) => {
    const { template: made, diagnostics } = compileTemplate(source, SCOPE);
    const places = diagnostics.map(({ span }) => span && source.slice(span.start, span.end));
    expect(made).toBeUndefined();
    expect(places).toEqual(expected);
  });

  test('and so do fixes', () => {
    const source = 'to ${req.metod}';
    const [found] = compileTemplate(source, SCOPE).diagnostics;
    const { span, text: replacement } = found!.fix!;
    expect(source.slice(0, span.start) + replacement + source.slice(span.end)).toBe('to ${req.method}');
  });

  test('errors at run time, too', () => {
    const source = "id=${req.method} v=${req.headers['x-none'][0]}";
    const outcome = text(source) as EvalError;
    expect(outcome).toBeInstanceOf(EvalError);
    expect(source.slice(outcome.span!.start, outcome.span!.end)).toBe("req.headers['x-none']");
    const alone = value("${req.headers['x-none']}") as EvalError;
    expect(alone.span).toEqual({ start: 2, end: 23 });
  });

  test('a value that has no text is an error', () => {
    expect(text('a ${double("NaN")} ${[double("NaN")]}')).toMatchObject({ code: 'expr.invalid_argument' });
    expect(text("${b'\\xff'}!")).toBeInstanceOf(EvalError);
  });

  test('a text that is too long is an error', () => {
    const long = '${req.url.path}'.repeat(200);
    const at64k = activation({ request: { path: `/${'x'.repeat(65_000)}` } });
    expect(template(long).text(at64k)).toMatchObject({ code: 'expr.limit_exceeded' });
  });
});

describe('spellings of former header modules', () => {
  test.each([
    ['${.conn.client_ip}', 'conn.client_ip', '203.0.113.7'],
    ['ip=${ .conn.client_ip }', 'conn.client_ip', 'ip=203.0.113.7'],
    ['${.http.request.url.path}', 'req.url.path', '/v1/things'],
    ['${.http.request.method}', 'req.method', 'GET'],
    ['${.tls.version}', 'conn.tls.version', 'TLSv1.3'],
    ["${.http.request.headers['x-team'][0]}", 'req.headers', 'blue'],
  ])('%s works, with a warning that shows the current spelling', (source, now, expected) => {
    const { template: made, diagnostics } = compileTemplate(source, SCOPE);
    const legacy = diagnostics.filter((one) => one.code === 'expr.legacy_spelling');
    expect(legacy).toHaveLength(1);
    expect(legacy[0]).toMatchObject({ severity: 'warning', fix: { text: now, safe: true } });
    const { span } = legacy[0]!.fix!;
    const fixed = source.slice(0, span.start) + now + source.slice(span.end);
    expect(made!.text(activation())).toBe(expected);
    expect(text(fixed)).toBe(expected);
    expect(
      compileTemplate(fixed, SCOPE).diagnostics.filter((one) => one.code === 'expr.legacy_spelling'),
    ).toEqual([]);
  });

  test('some contain the service name', () => {
    const { template: made } = compileTemplate('${has(conn.geo.city)} ${.acme.geo.city}', SCOPE, {
      service: 'acme',
    });
    expect(made!.text(activation())).toMatchObject({ code: 'expr.absent' });
  });

  test('places after such a path are still right', () => {
    const source = "${.http.request.headers['x-none'][0]}";
    const outcome = compileTemplate(source, SCOPE).template!.evaluate(activation()) as EvalError;
    expect(source.slice(0, outcome.span!.end)).toBe("${.http.request.headers['x-none']");
    const { diagnostics } = compileTemplate('x ${.http.request.url.path + 1}', SCOPE);
    const error = diagnostics.find((one) => one.severity === 'error')!;
    expect('x ${.http.request.url.path + 1}'.slice(0, error.span!.end)).toBe(
      'x ${.http.request.url.path + 1',
    );
  });

  test('one without a counterpart is an unknown variable', () => {
    expect(
      compileTemplate('${.basic_auth.username}', SCOPE).diagnostics.some((one) => one.severity === 'error'),
    ).toBe(true);
  });
});

describe('any text', () => {
  const pieces = fc.array(
    fc.constantFrom(
      '${',
      '}',
      '$',
      '{',
      "'",
      '"',
      '\\',
      'r',
      'a',
      ' ',
      '//',
      '\n',
      '1',
      "'''",
      '$${',
      '.',
      '😀',
    ),
    { maxLength: 24 },
  );

  test('is split without loss', () => {
    fc.assert(
      fc.property(
        pieces.map((parts) => parts.join('')),
        (source) => {
          const split = splitTemplate(source);
          if ('message' in split) return;
          const again = split.map((piece) =>
            piece.kind === 'text' ? piece.text.replaceAll('${', () => '$${') : `\${${piece.source}}`,
          );
          expect(again.join('')).toBe(source);
          for (const piece of split) {
            const isTrue =
              piece.kind === 'text' || source.slice(piece.span.start, piece.span.end) === piece.source;
            expect(isTrue).toBe(true);
          }
        },
      ),
      sized(20_000, 15),
    );
  });

  test('compiles or is refused with places inside it, and never throws', () => {
    const words = fc.array(
      fc.constantFrom(
        '${',
        '}',
        "'",
        'req.',
        'method',
        '.conn',
        'x',
        '+',
        ' ',
        '1',
        '[',
        ']',
        '$${',
        '.http.request.url',
        '.tls',
      ),
      { maxLength: 14 },
    );
    fc.assert(
      fc.property(
        words.map((parts) => parts.join('')),
        (source) => {
          const { template: made, diagnostics } = compileTemplate(source, SCOPE);
          expect(made === undefined).toBe(diagnostics.some((one) => one.severity === 'error'));
          for (const { span } of diagnostics) {
            expect(span!.start).toBeGreaterThanOrEqual(0);
            expect(span!.end).toBeLessThanOrEqual(source.length);
            expect(span!.start).toBeLessThanOrEqual(span!.end);
          }
          made?.text(activation());
        },
      ),
      sized(3_000, 16),
    );
  });

  test('takes linear time', () => {
    const fastestMs = (source: string): number => {
      return Math.min(...[1, 2, 3].map(() => cpuMs(() => compileTemplate(source, SCOPE))));
    };
    const repeated = ['${', "${'", "r'", ...(IS_FULL ? ['${a', '$${', '//', "${'''", '{'] : [])];
    for (const piece of repeated) {
      const shortMs = fastestMs(`\${${piece.repeat(5_000)}`);
      // Ten times the text: quadratic work would take a hundred times as long.
      expect(fastestMs(`\${${piece.repeat(50_000)}`)).toBeLessThan(40 * Math.max(2, shortMs));
    }
  });
});

const compileTree = (plain: unknown) => compileTemplateTree(plain, SCOPE, '/config');

describe('configuration with templates in it', () => {
  test('is evaluated at every depth, with keys and other values unchanged', () => {
    const { evaluate, diagnostics } = compileTree({
      text: 'm=${req.method}',
      number: '${1 + 1}',
      list: ["${getReqHeader('x-team')}", 5, 1.5, true, null],
      nested: { '${key}': 'plain' },
    });
    expect(diagnostics).toEqual([]);
    expect(evaluate!(activation())).toEqual({
      text: 'm=GET',
      number: 2,
      list: [['blue', 'green'], 5, expect.objectContaining({ value: 1.5 }), true, null],
      nested: { '${key}': 'plain' },
    });
  });

  test('gives the pointer of a finding', () => {
    const { evaluate, diagnostics } = compileTree({ a: ['x', '${nope}'], 'b/c': '${' });
    expect(evaluate).toBeUndefined();
    expect(diagnostics.map((one) => one.pointer)).toEqual(['/config/a/1', '/config/b~1c']);
  });

  test('an error inside is the error of the whole', () => {
    expect(compileTree({ a: ["${req.headers['x-none']}"] }).evaluate!(activation())).toMatchObject({
      code: 'expr.no_such_key',
    });
  });

  test('is bounded in depth', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 40; level++) deep = [deep];
    expect(compileTree(deep).diagnostics[0]!.message).toContain('deep');
  });
});
