/** Counts durations in steps of about two percent, in constant memory. */
export interface Histogram {
  readonly add: (ms: number) => void;
  readonly count: () => number;
  /** The duration that this share of all does not exceed; 0 if there are none. */
  readonly quantile: (share: number) => number;
}

const STEPS_A_DOUBLING = 36;
const MIN_MS = 0.001;

/** Of about 500 years; what is longer counts as that. */
const LAST_STEP = 54 * STEPS_A_DOUBLING;

/** An empty histogram. Its counts are a list, because it is asked for each request. */
export function histogram(): Histogram {
  const counts: number[] = [];
  let zeros = 0;
  let all = 0;
  return {
    add: (ms) => {
      all++;
      if (!(ms >= MIN_MS)) {
        zeros++;
        return;
      }
      const step = Math.min(LAST_STEP, Math.round(Math.log2(ms / MIN_MS) * STEPS_A_DOUBLING));
      while (counts.length <= step) counts.push(0);
      counts[step]!++;
    },
    count: () => all,
    quantile: (share) => {
      const wanted = Math.ceil(share * all);
      if (wanted <= zeros) return 0;
      let seen = zeros;
      for (let step = 0; step < counts.length; step++) {
        seen += counts[step]!;
        if (seen >= wanted) return MIN_MS * 2 ** (step / STEPS_A_DOUBLING);
      }
      return 0;
    },
  };
}
