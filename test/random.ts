/** One knob for the size of random and fuzz runs, and one source of chance for all of them. */

/** Shares of the full number of runs: those of `large` fit into the time that `.ci/run` has. */
const SIZES: Readonly<Record<string, number>> = { small: 0.025, large: 0.1 };

/** Fewer runs than this find little. */
const FEWEST = 10;

/** `small`, which is the default, `large`, or a factor of the full sizes: 1 for all of them, 10 for a long run. */
export const SIZE = process.env['EDGEPROOF_TEST_SIZE'] || 'small';
/** Another number gives other random inputs; 0 gives those that every run has had. */
export const SEED = Number(process.env['EDGEPROOF_TEST_SEED'] || 0);

const factor = SIZES[SIZE] ?? Number(SIZE);
if (!(factor > 0)) throw new Error(`EDGEPROOF_TEST_SIZE is small, large or a number above 0, not ${SIZE}`);
if (!Number.isSafeInteger(SEED)) throw new Error('EDGEPROOF_TEST_SEED is a whole number');

/** The full run, with everything that takes long. */
export const IS_FULL = SIZE === 'large' || factor >= 1;

/** How many runs to do of this full number; never fewer than `fewest`, unless the full number is lower. */
export function runs(full: number, fewest = FEWEST): number {
  return Math.max(Math.min(full, fewest), Math.round(full * factor));
}

/** The options of fast-check for a property that has this full number of runs. */
export function sized(full: number, seed = 1): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: runs(full), seed: mixed(seed) };
}

function mixed(seed: number): number {
  return SEED === 0 ? seed : (Math.imul(SEED, 0x9e3779b1) ^ seed) | 0;
}

/** A reproducible source of chance in [0, 1) (mulberry32). */
export function seeded(seed: number): () => number {
  let state = mixed(seed) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Reproducible bytes that no compression makes shorter. */
export function seededBytes(count: number, seed: number): Buffer {
  const random = seeded(seed);
  const bytes = Buffer.allocUnsafe(count);
  for (let at = 0; at < count; at++) bytes[at] = random() * 256;
  return bytes;
}
