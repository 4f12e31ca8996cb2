import fc from 'fast-check';
import { expect, it } from 'vitest';
import { instantIn } from '../../src/replay/line_instants.ts';
import { sized } from '../random.ts';

const instant = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 * 60_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: -62_000_000_000_000, max: 8_000_000_000_000 }) },
  )
  .map((ms) => new Date(Date.UTC(2026, 1, 28, 23, 58) + ms).toISOString());
/** Instants with a character changed: other separators, digits out of their range, other lengths. */
const spoilt = fc
  .tuple(
    instant,
    fc.nat(24),
    fc.nat(2),
    fc.constantFrom('', '0', '6', '9', ':', '.', '/', '+', ' ', 'z', 'é'),
  )
  .map(([text, at, taken, put]) => text.slice(0, at) + put + text.slice(at + taken));
const mixed = fc.oneof(
  { weight: 2, arbitrary: instant },
  { weight: 1, arbitrary: spoilt },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '2026-02-30T10:00:00.000Z', '2026-03-01T24:00:00.000Z', '2026-01-01'),
  },
);

it('instants are read from bytes as by Date.parse, whatever was read before', () => {
  fc.assert(
    fc.property(fc.array(mixed, { minLength: 1, maxLength: 40 }), (texts) => {
      for (const each of texts) {
        const bytes = Buffer.from(`"${each}"`);
        expect(instantIn(bytes, 1, bytes.length - 1)).toBe(Date.parse(each));
      }
    }),
    sized(4_000, 5),
  );
});

it.each(['60.000Z', '75.250Z', '99.999Z', '0a.000Z', '05.00aZ', '05:000Z', '05.000z'])(
  'after an instant of the same minute, %s is what Date.parse says',
  (seconds) => {
    for (const each of ['2026-03-01T10:20:05.250Z', `2026-03-01T10:20:${seconds}`]) {
      const bytes = Buffer.from(each);
      expect(instantIn(bytes, 0, bytes.length)).toBe(Date.parse(each));
    }
  },
);
