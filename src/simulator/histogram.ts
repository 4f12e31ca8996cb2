/** Counts durations in steps of about two percent, in constant memory. */
export interface Histogram {
  readonly add: (ms: number) => void;
  readonly count: () => number;
  /** The duration that this share of all does not exceed; 0 if there are none. */
  readonly quantile: (share: number) => number;
}

const STEPS_A_DOUBLING = 36;
const MIN_MS = 0.001;

/** An empty histogram. */
export function histogram(): Histogram {
  const counts = new Map<number, number>();
  let zeros = 0;
  let all = 0;
  return {
    add: (ms) => {
      all++;
      if (ms < MIN_MS) zeros++;
      else {
        const step = Math.round(Math.log2(ms / MIN_MS) * STEPS_A_DOUBLING);
        counts.set(step, (counts.get(step) ?? 0) + 1);
      }
    },
    count: () => all,
    quantile: (share) => {
      const wanted = Math.ceil(share * all);
      if (wanted <= zeros) return 0;
      let seen = zeros;
      for (const step of [...counts.keys()].sort((one, other) => one - other)) {
        seen += counts.get(step)!;
        if (seen >= wanted) return MIN_MS * 2 ** (step / STEPS_A_DOUBLING);
      }
      return 0;
    },
  };
}
