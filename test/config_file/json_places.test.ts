import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pointerTo } from '../../src/diagnostics/diagnostic.ts';
import { jsonPlaces } from '../../src/config_file/json_places.ts';
import { readDocument } from '../../src/config_file/read.ts';
import { EDGE_FILE } from '../../src/edge/document/edge_file.ts';

function pointersOf(value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null) return [pointer];
  return [
    pointer,
    ...Object.entries(value).flatMap(([key, part]) => pointersOf(part, pointerTo(pointer, key))),
    `${pointer}/absent`,
  ];
}

const space = fc.constantFrom('', ' ', '\n', '\n  ', '\r\n');

/** A text of JSON with white space anywhere. */
const texts = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue({ depthSize: 'small' })), fc.array(space, { minLength: 1 }))
  .filter(([value]) => !JSON.stringify(value).includes('__proto__'))
  .map(([value, spaces]) => {
    let at = 0;
    const spaced = JSON.stringify(value).replaceAll(
      /"(?:[^"\\]|\\.)*"|[[\]{},:]/g,
      (token) => `${spaces[at++ % spaces.length]}${token}${spaces[at++ % spaces.length]}`,
    );
    return { value, text: spaced };
  });

it('places in JSON are those that the library finds in it as YAML', () => {
  const property = fc.property(texts, ({ value, text }) => {
    const own = jsonPlaces(text);
    // The comment makes it a text for the library.
    const { document, diagnostics } = readDocument({ name: 'edge.json', text: `${text}\n#\t\n` }, EDGE_FILE);
    if (diagnostics.some(({ code }) => code === 'edge.other_file')) return;
    expect(document?.value).toStrictEqual(JSON.parse(text));
    for (const pointer of pointersOf(value)) {
      const found = { pointer, value: own.spanOf(pointer), key: own.keySpanOf(pointer) };
      const expected = { pointer, value: document!.spanOf(pointer), key: document!.keySpanOf(pointer) };
      expect(found).toEqual(expected);
    }
  });
  fc.assert(property, { numRuns: process.env['EDGEPROOF_TEST_SIZE'] === 'large' ? 1_000 : 200 });
});
