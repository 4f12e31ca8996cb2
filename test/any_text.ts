import * as fc from 'fast-check';

/** The first of the surrogates, which stand for no character alone, and their number. */
const SURROGATES = { first: 0xd800, count: 0x800 };

/** Any character of Unicode. The unit `binary` of fast-check is the same, but takes seconds at its first use. */
const character = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map((at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count));

/** Any text of whole characters. */
export function anyText(options: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...options });
}
