import { closeSync, openSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundsOfLines, eachPiece } from '../../src/replay/lines.ts';
import { partReader } from '../../src/replay/log_file.ts';
import { folderWith } from '../folder.ts';
import { sized } from '../random.ts';

const folder = folderWith();
const path = join(folder, 'any.log');

type Numbered = readonly [line: string, number: number];

/** The lines of a log, from the bytes that are given, and from those that the places of the pieces name. */
async function linesOf(log: string): Promise<{ given: Numbered[]; placed: Numbered[]; count: number }> {
  const given: Numbered[] = [];
  const placed: Numbered[] = [];
  const read = partReader();
  const count = await eachPiece(log, (piece, firstLine, part) => {
    given.push(...linesIn(piece, firstLine));
    placed.push(...linesIn(read(part!), firstLine));
  });
  return { given, placed, count };
}

function linesIn(piece: Buffer, firstLine: number): Numbered[] {
  const lines: Numbered[] = [];
  boundsOfLines(piece, firstLine, (from, to, number) =>
    lines.push([piece.toString('utf8', from, to), number]),
  );
  return lines;
}

/** What the lines of a text are: a break at its end does not begin another one. */
function expected(text: string): Numbered[] {
  if (text === '') return [];
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line, index) => [line.replace(/\r$/, ''), index + 1]);
}

/** Lines longer than a piece, and than the texts of a piece, among short ones. */
const line = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('', 'a', 'é€', 'b\r', 'curl a \\') },
  { weight: 2, arbitrary: fc.nat(200_000).map((units) => 'x'.repeat(units)) },
  { weight: 1, arbitrary: fc.nat(700_000).map((units) => '€'.repeat(units)) },
);

describe('the lines of a file', () => {
  it('are the same whatever their length, in order and numbered', async () => {
    const log = fc.tuple(fc.array(line, { maxLength: 60 }), fc.constantFrom('', '\n'));
    await fc.assert(
      fc.asyncProperty(log, async ([lines, end]) => {
        const text = lines.join('\n') + end;
        writeFileSync(path, text);
        const { given, placed, count } = await linesOf(path);
        expect(given).toEqual(expected(text));
        expect(placed).toEqual(given);
        expect(count).toBe(given.length);
      }),
      sized(400, 3),
    );
  });

  it('are not cut into pieces after a backslash, which continues a line', async () => {
    const unit = `${'x'.repeat(50)}\\\n`;
    writeFileSync(path, `${unit.repeat(60_000)}end\nlast`);
    const pieces: string[] = [];
    await eachPiece(path, (piece) => void pieces.push(piece.toString().slice(-10)));
    expect(pieces).toEqual(['xxxxx\\\nend', 'last']);
  });

  it('cannot be read where the file has been truncated', () => {
    writeFileSync(path, 'one\ntwo\nthree\n');
    const file = openSync(path, 'r');
    const read = partReader();
    expect(read({ file, from: 4, to: 7 }).toString()).toBe('two');
    truncateSync(path, 6);
    expect(() => read({ file, from: 4, to: 7 })).toThrow('it was truncated while it was read');
    closeSync(file);
  });
});
