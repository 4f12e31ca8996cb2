/** Seeded randomness: the same seed gives the same numbers on every machine and Node version. */
export interface Chance {
  /** Uniform in [0, 1), 53 bits. */
  readonly random: () => number;
  /** Independent randomness for one purpose: its numbers do not depend on the use of this one. */
  readonly split: (purpose: string) => Chance;
}

/** Creates randomness from a seed. */
export function seededChance(seed: number | string): Chance {
  const text = String(seed);
  // Most random sources are never used.
  let next: (() => number) | null = null;
  return {
    random: () => (next ??= generator(text))(),
    split: (purpose) => seededChance(`${text}/${purpose}`),
  };
}

/** sfc32 (Doty-Humphrey, PractRand): 32-bit integers only, with the same results on every engine. */
function generator(seed: string): () => number {
  const next = mixer(seed);
  let a = next();
  let b = next();
  let c = next();
  let counter = 1;
  const word = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum;
  };
  // The first words still correlate with the seed.
  for (let warm = 0; warm < 12; warm++) word();
  return () => ((word() >>> 5) * 67_108_864 + (word() >>> 6)) / 9_007_199_254_740_992;
}

/** Words from a text: FNV-1a, then the finaliser of MurmurHash3. */
function mixer(text: string): () => number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return () => {
    hash = (hash + 0x9e3779b9) | 0;
    let word = hash ^ (hash >>> 16);
    word = Math.imul(word, 0x85ebca6b);
    word ^= word >>> 13;
    word = Math.imul(word, 0xc2b2ae35);
    return word ^ (word >>> 16);
  };
}
