import {
  type Fraction,
  ONE,
  ZERO,
  asNumber,
  compareFractions,
  fractionOf,
  minus,
  plus,
  simplestBetween,
  times,
} from './fraction.ts';

/** One run with given randomness; returns its outcome. */
export type Run = (random: () => number) => string;

/** Exact probabilities of all outcomes. */
export interface Distribution {
  readonly shares: ReadonlyMap<string, Fraction>;
  readonly runs: number;
}

/** Maximum number of runs of a walk; above it there are too many outcomes. */
const RUN_LIMIT = 200_000;
/** Distance from a bound within which rounding in the edge's own arithmetic may decide. */
const SLACK = 2 ** -50;
const MIDDLE = 0.5;
/** Number of points at which an interval is probed for undeclared bounds. */
const PROBES = 16;

/**
 * Enumerates all random outcomes. Each draw is uniform in [0, 1); between two `bounds` the outcome is assumed
 * to be constant, which probes verify. If it is not, the bound between is searched, and the simplest fraction
 * there is used. Null if there are too many outcomes.
 */
export function walkChance(run: Run, bounds: readonly Fraction[]): Distribution | null {
  const shares = new Map<string, Fraction>();
  let runs = 0;

  /** The outcome of a run with these draws first and then the middle, and the number of draws. */
  const attempt = (draws: readonly number[]): { readonly outcome: string; readonly drawn: number } => {
    runs++;
    let drawn = 0;
    const outcome = run(() => draws[drawn++] ?? MIDDLE);
    return { outcome, drawn };
  };
  const walk = (draws: readonly number[], probability: Fraction): boolean => {
    if (runs > RUN_LIMIT) return false;
    const { outcome, drawn } = attempt(draws);
    if (drawn <= draws.length) {
      shares.set(outcome, plus(shares.get(outcome) ?? ZERO, probability));
      return true;
    }
    const signature = (value: number): string => {
      const found = attempt([...draws, value]);
      return `${found.drawn} ${found.outcome}`;
    };
    return stretches(bounds, signature).every(({ from, to }) =>
      walk([...draws, asNumber(middle(from, to))], times(probability, minus(to, from))),
    );
  };
  return walk([], ONE) ? { shares, runs } : null;
}

interface Stretch {
  readonly from: Fraction;
  readonly to: Fraction;
}

function middle(from: Fraction, to: Fraction): Fraction {
  return times(plus(from, to), { above: 1n, below: 2n });
}

/** The intervals of [0, 1) in which the next draw has the same effect. */
function stretches(bounds: readonly Fraction[], signature: (value: number) => string): Stretch[] {
  const inside = bounds.filter((each) => compareFractions(each, ZERO) > 0 && compareFractions(each, ONE) < 0);
  const ends = [...inside.sort(compareFractions), ONE];
  let from = ZERO;
  const found: Stretch[] = [];
  for (const to of ends) {
    if (compareFractions(from, to) === 0) continue;
    const points = pointsIn(from, to);
    let last = { at: points[0]!, is: signature(points[0]!) };
    for (const at of points.slice(1)) {
      const is = signature(at);
      if (is !== last.is) {
        const bound = boundBetween(last.at, at, last.is, signature);
        found.push({ from, to: bound });
        from = bound;
      }
      last = { at, is };
    }
    found.push({ from, to });
    from = to;
  }
  return found;
}

function pointsIn(from: Fraction, to: Fraction): number[] {
  const low = asNumber(from) + (from.above === 0n ? 0 : SLACK);
  const high = asNumber(to) - SLACK;
  return Array.from({ length: PROBES + 1 }, (_, at) => low + ((high - low) * at) / PROBES);
}

/** The bound at which the signature changes, between two points with different signatures. */
function boundBetween(low: number, high: number, is: string, signature: (value: number) => string): Fraction {
  let [below, above] = [low, high];
  for (;;) {
    const between = below + (above - below) / 2;
    if (between <= below || between >= above || above - below < SLACK) break;
    if (signature(between) === is) below = between;
    else above = between;
  }
  return simplestBetween(fractionOf(Math.max(0, below - SLACK)), fractionOf(Math.min(1, above + SLACK)));
}
