import fc from 'fast-check';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plainYaml } from '../../src/config_file/plain_yaml.ts';
import { readDocument } from '../../src/config_file/read.ts';
import { EDGE_FILE } from '../../src/edge/document/edge_file.ts';

/** What the library reads: the quick reader leaves texts with a tab to it. */
function byLibrary(text: string) {
  const { document, diagnostics } = readDocument({ name: 'edge.yaml', text: `${text}\n#\t\n` }, EDGE_FILE);
  return { value: document?.value, codes: diagnostics.map(({ code }) => code) };
}

/** What `readDocument` finds, whichever way a text is read. */
const REFUSED_BEFORE = new Set(['edge.other_file', 'edge.not_text']);

/** Whether the quick reader has read a text; then the library finds the same value, and nothing wrong. */
function isReadAlike(text: string): boolean {
  const value = plainYaml(text);
  if (value === null) return false;
  const { value: expected, codes } = byLibrary(text);
  const wrong = codes.filter((code) => !REFUSED_BEFORE.has(code));
  expect({ text, wrong }).toEqual({ text, wrong: [] });
  if (codes.length === 0) expect({ text, value }).toStrictEqual({ text, value: expected });
  return true;
}

const RUNS = process.env['EDGEPROOF_TEST_SIZE'] === 'large' ? 30_000 : 1_500;
const FILES = globSync(['fixtures/**/*.{yaml,yml}', 'docs/**/*.yaml', 'test/**/*.yaml']).map((path) =>
  readFileSync(path, 'utf8'),
);
const PARTS = [
  ...Array.from(' :-#\'"[]{},|>&*!?%@`~0.\n\\é_+=<'),
  '  ',
  ': ',
  '- ',
  ' #',
  '\n  ',
  '\n- ',
  '---\n',
  'null',
  '0x1',
];

describe('plain YAML', () => {
  it('is read as the library reads it, in files of the repository', () => {
    const read = FILES.filter(isReadAlike);
    expect(read.length).toBeGreaterThan(FILES.length / 4);
  });

  it('is read as the library reads it, after any changes to such files', () => {
    let read = 0;
    const lines = FILES.flatMap((text) => text.split('\n')).filter((line) => line.length < 80);
    const change = fc.record({ at: fc.nat(), length: fc.nat(4), part: fc.constantFrom('', ...PARTS) });
    const property = fc.property(
      fc.nat(),
      fc.nat(12),
      fc.array(change, { maxLength: 4 }),
      (from, size, changes) => {
        const start = from % lines.length;
        let text = lines.slice(start, start + size + 1).join('\n');
        for (const { at, length, part } of changes) {
          const place = at % (text.length + 1);
          text = text.slice(0, place) + part + text.slice(place + length);
        }
        if (isReadAlike(text)) read++;
      },
    );
    fc.assert(property, { numRuns: RUNS });
    expect(read).toBeGreaterThan(RUNS / 50);
  });

  it('is read as the library reads it, made of parts', () => {
    let read = 0;
    const word = fc.constantFrom(
      'a',
      'b',
      'c',
      "'d e'",
      '"f\\n"',
      'yes',
      'true',
      '~',
      '0o7',
      '1e3',
      '.5',
      '12',
      '-0',
    );
    const part = fc.oneof(
      word,
      word,
      fc.constantFrom(...PARTS),
      fc.constantFrom('a: ', 'b:\n', 'c: |\n', '- a: '),
    );
    const property = fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
      if (isReadAlike(`a: ${parts.join('')}`)) read++;
    });
    fc.assert(property, { numRuns: RUNS });
    expect(read).toBeGreaterThan(RUNS / 50);
  });

  it.each([
    [
      'a: 1\nb: [x, {y: z}]\nc:\n- d: |\n    one\n\n    two\n  e: |-\n    three\n- - 1\n  - "\\u00e9"\n',
      undefined,
    ],
    ["a: 1 # note\n# another\n\nb: 'it''s'\n\"c d\": -0.5\n443: 007x\n", undefined],
    ['---\na: {}\nb: []\nc:\nd: ~\n', undefined],
    ['a: 1\na: 2', 'a repeated key'],
    ['__proto__: {}', 'a prototype'],
    ['a: &x 1', 'an anchor'],
    ['a: one\n  two', 'a text of two lines'],
    ['a: !!str 1', 'a tag'],
    ['a: 0x1F', 'a number in another base'],
    ['a: b: c', 'a colon'],
    ['a:\n   - 1\n  - 2', 'uneven indentation'],
    ['a: 1\n---\nb: 2', 'a second document'],
    ['- a', 'a list'],
    ['', 'nothing'],
    [`a: ${'['.repeat(70)}${']'.repeat(70)}`, 'deep nesting'],
    ['[{'.repeat(50_000), 'very deep nesting'],
  ])('%j is read at once unless it has %s', (text, why) => {
    expect(isReadAlike(text)).toBe(why === undefined);
  });
});
