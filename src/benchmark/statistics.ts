/**
 * Statistics of measurements: medians with intervals, and tests whether two samples differ. Nothing here
 * assumes a normal distribution, because times have long tails.
 */

/** A number and its 95 % confidence interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** The value below which `share` (0 to 1) of the sorted numbers lie: the nearest rank. NaN for an empty list. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

type Numbers = readonly number[] | Float64Array;

/** The median; the mean of the middle two for an even count. NaN for an empty list. */
export function median(numbers: Numbers): number {
  // Without a comparison of ours, as all that bootstrapping does is sort.
  const sorted = Float64Array.from(numbers).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const RESAMPLES = 1_000;
const CONFIDENCE = 0.95;

/** A statistic with its percentile bootstrap interval (Efron 1979). `random` is uniform in [0, 1). */
export function bootstrap(
  numbers: readonly number[],
  random: () => number,
  statistic: (numbers: Numbers) => number = median,
): Estimate {
  const found: number[] = [];
  for (let round = 0; round < RESAMPLES; round++) found.push(statistic(resampled(numbers, random)));
  found.sort((one, other) => one - other);
  const tail = (1 - CONFIDENCE) / 2;
  return { value: statistic(numbers), low: quantile(found, tail), high: quantile(found, 1 - tail) };
}

function resampled(numbers: readonly number[], random: () => number): Float64Array {
  const drawn = new Float64Array(numbers.length);
  for (let at = 0; at < drawn.length; at++) drawn[at] = numbers[Math.floor(random() * drawn.length)]!;
  return drawn;
}

/** The result of a rank test: the probability of such a difference by chance, and the effect size. */
export interface RankTest {
  /** Two-sided, from the normal approximation with correction for ties. */
  readonly p: number;
  /** Share of pairs in which the second number is larger, ties half (Vargha and Delaney 2000): 0.5 without effect. */
  readonly effect: number;
}

/**
 * The Mann-Whitney test of two independent samples (1947). Both need at least eight values for the
 * approximation.
 */
export function mannWhitney(first: readonly number[], second: readonly number[]): RankTest {
  const all = [...first.map((value) => ({ value, of: 0 })), ...second.map((value) => ({ value, of: 1 }))];
  all.sort((one, other) => one.value - other.value);
  let rankSum = 0;
  let ties = 0;
  for (let at = 0; at < all.length;) {
    let end = at;
    while (end < all.length && all[end]!.value === all[at]!.value) end++;
    const rank = (at + 1 + end) / 2;
    const size = end - at;
    ties += size ** 3 - size;
    for (; at < end; at++) if (all[at]!.of === 1) rankSum += rank;
  }
  const [n, m] = [first.length, second.length];
  const u = rankSum - (m * (m + 1)) / 2;
  const effect = u / (n * m);
  const total = n + m;
  const variance = ((n * m) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return { p: 1, effect };
  const z = Math.max(0, Math.abs(u - (n * m) / 2) - 0.5) / Math.sqrt(variance);
  return { p: Math.min(1, 2 * upperTail(z)), effect };
}

/** Share of the standard normal distribution above `z` ≥ 0 (Abramowitz and Stegun 26.2.17, error below 7.5e-8). */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}

/** The comparison of two measurements. */
export interface Comparison {
  readonly verdict: 'slower' | 'faster' | 'no difference';
  /** Second over first: 1.1 is ten percent slower. */
  readonly ratio: Estimate;
  readonly test: RankTest;
}

/** Probability of a false positive when equal things are compared, before `leastDifference` is applied. */
const SIGNIFICANT = 0.001;
/** Smaller differences are not reported: code and memory layout alone can cause them. */
const MIN_DIFFERENCE = 0.03;

/** Blocks that a list of pairs is divided into: disturbances of the machine last longer than one pair. */
const BLOCKS = 16;

/**
 * Compares two samples that were measured alternately: values at the same index belong together, so that a
 * disturbance affects both. Each of sixteen blocks gives one ratio. Reports a difference only if nearly all
 * blocks agree on which is slower, the interval of the ratio excludes one, and the ratio itself differs from
 * one by at least `leastDifference`.
 */
export function comparePairs(
  first: readonly number[],
  second: readonly number[],
  leastDifference = MIN_DIFFERENCE,
): Comparison {
  const ratios = second.map((value, at) => value / first[at]!);
  const length = Math.max(1, Math.floor(ratios.length / BLOCKS));
  const blocks = Array.from({ length: Math.min(BLOCKS, ratios.length) }, (_, at) =>
    median(ratios.slice(at * length, (at + 1) * length)),
  );
  return concluded(medianInterval(blocks), signTest(blocks), leastDifference);
}

/**
 * The median with the narrowest interval between two values of the list that contains the true one in at least 95 of
 * 100 cases, whatever the distribution (Thompson 1936). The bootstrap is too narrow for so few values. Fewer than six
 * values give their whole range.
 */
function medianInterval(numbers: readonly number[]): Estimate {
  const sorted = numbers.toSorted((one, other) => one - other);
  const count = sorted.length;
  let outside = 0;
  let chance = 0.5 ** count;
  let at = 0;
  // The chance that at most `at` of the values lie on one side of the true median, and on either side.
  while (2 * (outside + chance) <= 1 - CONFIDENCE) {
    outside += chance;
    chance = (chance * (count - at)) / (at + 1);
    at++;
  }
  const low = Math.max(0, at - 1);
  return { value: median(sorted), low: sorted[low]!, high: sorted[count - 1 - low]! };
}

/** Compares two samples of different runs, which may differ in length. */
export function compareRuns(
  first: readonly number[],
  second: readonly number[],
  random: () => number,
  leastDifference = MIN_DIFFERENCE,
): Comparison {
  const found: number[] = [];
  for (let round = 0; round < RESAMPLES; round++)
    found.push(median(resampled(second, random)) / median(resampled(first, random)));
  found.sort((one, other) => one - other);
  const tail = (1 - CONFIDENCE) / 2;
  const ratio: Estimate = {
    value: median(second) / median(first),
    low: quantile(found, tail),
    high: quantile(found, 1 - tail),
  };
  return concluded(ratio, mannWhitney(first, second), leastDifference);
}

/**
 * The sign test on the ratios: the probability that a fair coin falls as unevenly as they lie above and below
 * one.
 */
function signTest(ratios: readonly number[]): RankTest {
  const above = ratios.filter((ratio) => ratio > 1).length;
  const tossed = ratios.filter((ratio) => ratio !== 1).length;
  const rarer = Math.min(above, tossed - above);
  let chance = 1;
  let tail = 0;
  // Binomial coefficients, computed iteratively; the lists are short.
  for (let count = 0; count <= rarer; count++) {
    tail += chance;
    chance = (chance * (tossed - count)) / (count + 1);
  }
  const effect = (above + (ratios.length - tossed) / 2) / ratios.length;
  return { p: Math.min(1, (2 * tail) / 2 ** tossed), effect };
}

function concluded(ratio: Estimate, test: RankTest, leastDifference: number): Comparison {
  const differs =
    test.p < SIGNIFICANT &&
    (ratio.low > 1 || ratio.high < 1) &&
    Math.abs(Math.log(ratio.value)) >= Math.log(1 + leastDifference);
  const verdict = differs ? (ratio.value > 1 ? 'slower' : 'faster') : 'no difference';
  return { verdict, ratio, test };
}
