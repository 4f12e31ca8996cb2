import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stripVTControlCharacters } from 'node:util';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { hasErrors, pointerTo, pointersFrom } from '../../src/diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../src/diagnostics/json.ts';
import { renderDiagnostics } from '../../src/diagnostics/render.ts';
import { sized } from '../random.ts';

/** A finding on the text between `«` and `»`. */
function finding(marked: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const start = marked.indexOf('«');
  const end = marked.indexOf('»') - 1;
  const source = { name: 'edge.yaml', text: marked.replace('«', '').replace('»', '') };
  return {
    code: 'edge.test',
    severity: 'error',
    message: 'something is wrong',
    pointer: '',
    source,
    span: { start, end },
    ...more,
  };
}

function plain(list: readonly Diagnostic[], columns?: number): string {
  return renderDiagnostics(list, { color: false, ...(columns === undefined ? {} : { columns }) });
}

describe('renderDiagnostics', () => {
  test('shows place, line before, line, carets with hint, and notes', () => {
    const text = 'routes:\n  - match: /\n    «bakend»: {}\n';
    const hint = "did you mean 'backend'?";
    expect(plain([finding(text, { hint, notes: ['known: backend, match'], pointer: '/routes/0/bakend' })]))
      .toMatchInlineSnapshot(`
      "edge.yaml:3:5 error edge.test something is wrong
         2 │   - match: /
         3 │     bakend: {}
           │     ^^^^^^ did you mean 'backend'?
           = known: backend, match
           = at /routes/0/bakend
      1 error
      "
    `);
  });

  test('counts findings', () => {
    const warning = finding('a: «1»', { severity: 'warning' });
    const error = finding('a: «1»');
    expect(plain([warning])).toMatch(/\n1 warning\n$/);
    expect(plain([error, warning, error, warning])).toMatch(/\n2 errors, 2 warnings\n$/);
    expect(plain([])).toBe('');
  });

  test('without a source there is still a pointer and the hint', () => {
    const bare: Diagnostic = {
      code: 'edge.test',
      severity: 'error',
      message: 'no such backend',
      pointer: '/edges/https/a',
      hint: "did you mean 'b'?",
    };
    expect(plain([bare])).toMatchInlineSnapshot(`
      "<config> error edge.test no such backend
           = did you mean 'b'?
           = at /edges/https/a
      1 error
      "
    `);
  });

  test('tabs, wide and combining characters keep the caret under its word', () => {
    expect(plain([finding('\ta: «\t日»本')])).toContain('   1 │     a:     日本\n     │        ^^^^^^');
    expect(plain([finding('e\u0301: «x»')])).toContain('   1 │ e\u0301: x\n     │    ^');
    expect(plain([finding('😀: «x»')])).toContain('   1 │ 😀: x\n     │     ^');
  });

  test('long lines are cut around the caret', () => {
    const shown = plain([finding(`${'a'.repeat(500)} «word» ${'b'.repeat(500)}`)], 60).split('\n');
    const [, line, carets] = shown as [string, string, string];
    expect(line).toMatch(/^ {3}1 │ …a{29} word b+…$/);
    expect(line.length).toBeLessThanOrEqual(60 + 7);
    expect(carets.indexOf('^')).toBe(line.indexOf('word'));
    expect(carets.trimEnd().length - carets.indexOf('^')).toBe(4);
    expect(plain([finding(`«${'a'.repeat(500)}»`)], 60).split('\n')[2]).toMatch(/^ {5}│ \^{58}$/);
  });

  test('a span over several lines marks the first, an empty span one cell', () => {
    expect(plain([finding('a: «[1,\n 2]»')])).toContain('1 │ a: [1,\n     │    ^^^\n');
    expect(plain([finding('a:«»')])).toContain('1 │ a:\n     │   ^\n');
    expect(plain([finding('«»')])).toContain('1 │\n     │ ^\n');
  });

  test('control characters are escaped', () => {
    const hostile = finding('«\u001b[31m\u202e\u0007»', { message: 'got "\u001b[0m"', hint: '\u0000' });
    // oxlint-disable-next-line no-control-regex -- these are what must not be printed
    expect(plain([hostile])).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test('colour changes nothing but colour', () => {
    const list = [finding('a: «b»', { hint: 'h', notes: ['n'], pointer: '/a' }), finding('x: «y»')];
    const colored = renderDiagnostics(list, { color: true });
    expect(colored).not.toBe(plain(list));
    expect(stripVTControlCharacters(colored)).toBe(plain(list));
  });

  test('ten megabytes on one line are fast', () => {
    const text = `${'x'.repeat(5_000_000)}«bad»${'x'.repeat(5_000_000)}`;
    const one = finding(text);
    const list = Array.from({ length: 500 }, () => one);
    const begin = performance.now();
    expect(plain(list)).toMatch(/500 errors\n$/);
    expect(performance.now() - begin).toBeLessThan(3000);
  });

  test('any text, any span: every line fits and the caret is visible', () => {
    const character = fc.constantFrom('a', 'b', ' ', '\t', '日', '😀', '\u0301', '\n', '\r\n', '\u001b');
    fc.assert(
      fc.property(fc.array(character, { maxLength: 300 }), fc.nat(), fc.nat(), (parts, one, other) => {
        const text = parts.join('');
        const ends = [one % (text.length + 1), other % (text.length + 1)].sort((a, b) => a - b);
        const span = { start: ends[0]!, end: ends[1]! };
        const shown = plain([{ ...finding('«»'), source: { name: 'f', text }, span }], 40);
        const carets = shown.split('\n').at(-3)!;
        expect(carets).toMatch(/^ +│ +\^+$/);
        expect(carets.length).toBeLessThanOrEqual(40 + 7 + 4);
      }),
      sized(2000, 5),
    );
  });
});

describe('diagnosticsToJson', () => {
  test('has all parts as data', () => {
    const fix = { message: 'write /32', span: { start: 3, end: 5 }, text: 'ab/32', safe: true };
    expect(
      diagnosticsToJson([finding('a: «ab»\n', { fix, pointer: '/a', hint: 'h', notes: ['n'] })]),
    ).toEqual([
      {
        file: 'edge.yaml',
        range: { start: { line: 1, column: 4 }, end: { line: 1, column: 6 } },
        severity: 'error',
        code: 'edge.test',
        message: 'something is wrong',
        pointer: '/a',
        hint: 'h',
        notes: ['n'],
        basis: null,
        fix: {
          message: 'write /32',
          range: { start: { line: 1, column: 4 }, end: { line: 1, column: 6 } },
          text: 'ab/32',
          safe: true,
        },
      },
    ]);
    const bare: Diagnostic = { code: 'c', severity: 'warning', message: 's', pointer: '' };
    expect(diagnosticsToJson([bare])[0]).toMatchObject({
      file: null,
      range: null,
      hint: null,
      notes: [],
      fix: null,
    });
  });
});

test('pointers are escaped and severities kept', () => {
  expect(pointerTo('/a', 'b/c~d')).toBe('/a/b~1c~0d');
  expect(pointerTo('', 0)).toBe('/0');
  expect(pointersFrom('/a/0')).toEqual(['/a/0', '/a', '']);
  expect(pointersFrom('')).toEqual(['']);
  expect(hasErrors([finding('«»', { severity: 'warning' })])).toBe(false);
  expect(hasErrors([finding('«»')])).toBe(true);
});
