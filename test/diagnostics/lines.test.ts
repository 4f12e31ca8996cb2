import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Lines, type Position, lineSpan, linesOf, positionAt } from '../../src/diagnostics/lines.ts';
import { sized } from '../random.ts';

const texts = fc
  .array(fc.constantFrom('a', 'é', '😀', '\n', '\r\n', '\r', '\t', 'xyz'), { maxLength: 30 })
  .map((parts) => parts.join(''));

/** The inverse of `positionAt`, by counting code points. */
function offsetAt(lines: Lines, { line, column }: Position): number {
  const { start, end } = lineSpan(lines, line);
  const before = Array.from(lines.text.slice(start, end)).slice(0, column - 1);
  return start + before.join('').length;
}

describe('lines and columns', () => {
  test('count from 1, columns by code point', () => {
    const lines = linesOf('ab\n😀c\r\n\rd');
    expect(positionAt(lines, 0)).toEqual({ line: 1, column: 1 });
    expect(positionAt(lines, 2)).toEqual({ line: 1, column: 3 });
    expect(positionAt(lines, 5)).toEqual({ line: 2, column: 2 });
    expect(positionAt(lines, 8)).toEqual({ line: 3, column: 1 });
    expect(positionAt(lines, 9)).toEqual({ line: 4, column: 1 });
    expect(positionAt(lines, 99)).toEqual({ line: 4, column: 2 });
    expect(positionAt(lines, -1)).toEqual({ line: 1, column: 1 });
  });

  test('an offset survives conversion to a position and back', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const lines = linesOf(text);
        // Breaks have no place of their own: the units of CR LF share the end of their line.
        const places = [...text.matchAll(/[^\r\n]/gu)].map((found) => found.index);
        expect(places.map((offset) => offsetAt(lines, positionAt(lines, offset)))).toEqual(places);
        expect(offsetAt(lines, positionAt(lines, text.length))).toBe(text.length);
      }),
      sized(2000, 1),
    );
  });

  test('lines and their breaks cover the text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const lines = linesOf(text);
        const contents = lines.starts.map((_, index) => {
          const span = lineSpan(lines, index + 1);
          return text.slice(span.start, span.end);
        });
        expect(contents).toEqual(text.split(/\r\n|\n|\r/));
      }),
      sized(2000, 2),
    );
  });
});
