import type { CompiledFilter } from '../../engine/pipeline.ts';
import type { Step } from '../../engine/trace.ts';

/** A filter on its route, in a phase: steps have the pointer of the rule that decided in place of that of their filter. */
export function filterKey({ phase, module, pointer }: Pick<Step, 'phase' | 'module' | 'pointer'>): string {
  const route = /^\/edges\/[^/]+\/[^/]+(?:\/routes\/\d+)?/.exec(pointer ?? '')?.[0] ?? '';
  return `${phase} ${module} ${route}`;
}

/** Measures how long the filters of an edge take to decide, without the time in which they wait for answers. */
export interface StepTimes {
  /** For `ReplayOptions.filtersOf`. */
  readonly filtersOf: (filters: readonly CompiledFilter[]) => readonly CompiledFilter[];
  /** µs of the fastest run of a filter; null if it did not run, or if it asked a question. */
  readonly of: (step: Step) => number | null;
  /** Forgets all times, for another exchange. */
  readonly clear: () => void;
}

/** `clockMs` has fractions of a millisecond. */
export function stepTimes(clockMs: () => number): StepTimes {
  const fastest = new Map<string, number>();
  const asked = new Set<string>();
  const timed = <Given extends readonly unknown[], Answer extends { readonly verdict: string }>(
    key: string,
    run: ((...given: Given) => Answer) | null,
  ): ((...given: Given) => Answer) | null =>
    run &&
    ((...given) => {
      const beganMs = clockMs();
      const answer = run(...given);
      const tookMs = clockMs() - beganMs;
      if (answer.verdict === 'ask') asked.add(key);
      else fastest.set(key, Math.min(tookMs, fastest.get(key) ?? tookMs));
      return answer;
    });
  return {
    filtersOf: (filters) =>
      filters.map((filter) => ({
        ...filter,
        onRequest: timed(filterKey({ ...filter, phase: 'request' }), filter.onRequest),
        onResponse: timed(filterKey({ ...filter, phase: 'response' }), filter.onResponse),
      })),
    of: (step) => {
      const key = filterKey(step);
      const tookMs = fastest.get(key);
      return tookMs === undefined || asked.has(key) ? null : Math.round(tookMs * 1e5) / 100;
    },
    clear: () => {
      fastest.clear();
      asked.clear();
    },
  };
}
