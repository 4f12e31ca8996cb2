/** Chooses positions by weight. */
export interface Weights {
  /** Sum of all weights; 0 means that nothing can be chosen. */
  readonly total: number;
  /**
   * The position whose share of [0, 1) holds `random`, shares lying in the order given: position i has
   * [w₀ + … + wᵢ₋₁, w₀ + … + wᵢ) / total. -1 when all weights are zero. Allocates nothing.
   */
  readonly pick: (random: number) => number;
}

/** Compiles weights, each 0 or more; a weight of zero is never chosen. */
export function compileWeights(weights: readonly number[]): Weights {
  const chosen = [...weights.entries()].filter(([, weight]) => weight > 0);
  const positions = Int32Array.from(chosen, ([position]) => position);
  const ends = new Float64Array(chosen.length);
  let total = 0;
  for (const [at, [, weight]] of chosen.entries()) ends[at] = total += weight;
  if (total === 0) return { total, pick: () => -1 };
  const guide = guideOf(ends, total);
  const last = ends.length - 1;
  const pick = (random: number): number => {
    const point = random * total;
    let at = guide[Math.floor(random * guide.length)]!;
    // `last` bounds the walk because the product can round up to `total` itself.
    while (at < last && ends[at]! <= point) at++;
    return positions[at]!;
  };
  return { total, pick };
}

/**
 * Where to begin looking: [0, 1) in as many equal parts as there are shares, for each the first share that reaches
 * into it. On average one more step finds the share (the guide table of Chen and Asau).
 */
function guideOf(ends: Float64Array, total: number): Int32Array {
  const guide = new Int32Array(ends.length);
  let at = 0;
  for (let part = 0; part < guide.length; part++) {
    // A shade lower than the part's edge, so that rounding in `pick` never begins past the share.
    const edge = (part / guide.length) * total * (1 - 2 ** -50);
    while (at < ends.length - 1 && ends[at]! <= edge) at++;
    guide[part] = at;
  }
  return guide;
}
