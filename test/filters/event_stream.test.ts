import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FieldReplacement,
  MESSAGE_LIMIT_UNITS,
  editEventStream,
} from '../../src/filters/sse_find_replace/algorithm.ts';
import { TOO_LONG } from '../../src/filters/find_replace/algorithm.ts';
import { compilePattern, isPatternProblem } from '../../src/regex/pattern.ts';
import { sized } from '../random.ts';

function replacement(source: string, to: string, field: 'data' | 'retry' = 'data'): FieldReplacement {
  const from = compilePattern(source);
  if (isPatternProblem(from)) throw new Error(from.message);
  return { from, to, field };
}

/** The edited stream, split at any places. */
function edited(
  text: string,
  replacements: readonly FieldReplacement[],
  cuts: readonly number[] = [],
): string {
  const bytes = Buffer.from(text);
  const editor = editEventStream(replacements);
  const out: Uint8Array[] = [];
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    const piece = editor.push(bytes.subarray(from, end));
    if (piece === TOO_LONG) return TOO_LONG;
    out.push(piece);
    from = end;
  }
  const rest = editor.end();
  if (rest === TOO_LONG) return TOO_LONG;
  out.push(rest);
  return Buffer.concat(out).toString('utf8');
}

describe('editing an event stream', () => {
  const redact = [replacement('\\d{4}', '####')];
  test.each([
    ['data of one line', 'data: 1234\n\n', 'data: ####\n\n'],
    ['data of more lines are one text', 'data: 12\ndata: 34\n\n', 'data: 12\ndata: 34\n\n'],
    ['no blank behind the colon', 'data:1234\n\n', 'data: ####\n\n'],
    [
      'other fields and comments stay',
      ': 1234\nevent: 1234\nid: 1234\ndata: x 1234\n\n',
      ': 1234\nevent: 1234\nid: 1234\ndata: x ####\n\n',
    ],
    ['CRLF', 'data: 1234\r\n\r\n', 'data: ####\r\n\r\n'],
    ['CR', 'data: 1234\r\rdata: 1\r\r', 'data: ####\r\rdata: 1\r\r'],
    ['a field of a longer name', 'database: 1234\n\n', 'database: 1234\n\n'],
    ['a field without a colon', 'data\ndata: 1234\n\n', 'data: \ndata: ####\n\n'],
    ['a message that is not whole', 'data: 1234\n\ndata: 1234\n', 'data: ####\n\ndata: ####\n'],
    ['a line that is not whole', 'data: 1234\n\nid: 1\ndata: 1234', 'data: ####\n\nid: 1\ndata: ####'],
    ['a CR at the end', 'data: 1234\r\rdata: 1234\r', 'data: ####\r\rdata: ####\r'],
    ['blank lines', '\n\n\ndata: 1234\n\n', '\n\n\ndata: ####\n\n'],
    ['nothing', '', ''],
  ])('%s', (_what, text, expected) => {
    expect(edited(text, redact)).toBe(expected);
  });

  test('matches and replacements may span lines', () => {
    expect(edited('data: a\ndata: b\nid: 1\n\n', [replacement('a\nb', 'x\ny\nz')])).toBe(
      'data: x\ndata: y\ndata: z\nid: 1\n\n',
    );
  });

  test('edits the field retry', () => {
    expect(edited('retry: 100\ndata: 100\n\n', [replacement('100', '5', 'retry')])).toBe(
      'retry: 5\ndata: 100\n\n',
    );
  });

  test('returns the matches', () => {
    const editor = editEventStream(redact);
    editor.push(Buffer.from('data: 1234 5678\n\n'));
    expect(editor.count()).toBe(2);
    expect(editor.found).toEqual([
      { index: 0, matched: '1234' },
      { index: 0, matched: '5678' },
    ]);
  });

  test('refuses a message without end', () => {
    expect(edited(`data: ${'x'.repeat(MESSAGE_LIMIT_UNITS)}`, redact)).toBe(TOO_LONG);
    expect(edited(`data: ${'x'.repeat(2_000)}\n\n`, [replacement('x', 'y'.repeat(1_000))])).toBe(TOO_LONG);
  });

  test('is independent of chunk boundaries', () => {
    const line = fc.constantFrom(
      'data: 1234',
      'data:é 12345678',
      'data',
      ': c',
      'id: 7',
      'retry: 1234',
      '',
      'event: 😀',
    );
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    const stream = fc.array(fc.tuple(line, ends), { maxLength: 12 }).map((lines) => lines.flat().join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 6 }), (text, cuts) => {
        expect(edited(text, redact, cuts)).toBe(edited(text, redact));
        expect(edited(text, [], cuts)).toBe(text);
      }),
      sized(3_000, 92),
    );
  });
});
