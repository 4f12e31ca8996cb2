/** Weighted random choice of a position. */
export interface Weights {
  /** Sum of all weights; 0 means that there is nothing to choose. */
  readonly total: number;
  /**
   * The position for `random` in [0, 1): position i covers [w₀ + … + wᵢ₋₁, w₀ + … + wᵢ) / total. -1 if all
   * weights are zero. Allocates nothing.
   */
  readonly pick: (random: number) => number;
}

/** Compiles non-negative weights; a position with weight zero is never chosen. */
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
    // `last` bounds the loop, because the product can round up to `total`.
    while (at < last && ends[at]! <= point) at++;
    return positions[at]!;
  };
  return { total, pick };
}

/**
 * Guide table of Chen and Asau: [0, 1) is divided into as many equal parts as there are weights; each part
 * has the first position that reaches into it. On average one more step finds the position.
 */
function guideOf(ends: Float64Array, total: number): Int32Array {
  const guide = new Int32Array(ends.length);
  let at = 0;
  for (let part = 0; part < guide.length; part++) {
    // Slightly below the part's start, so that rounding in `pick` never starts after the right position.
    const edge = (part / guide.length) * total * (1 - 2 ** -50);
    while (at < ends.length - 1 && ends[at]! <= edge) at++;
    guide[part] = at;
  }
  return guide;
}
