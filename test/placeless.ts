import type { Step } from '../src/engine/trace.ts';
import type { Explanation } from '../src/edge/explain.ts';

/** The steps of an explanation as the trace has them, without the places in the file. */
export function placeless(steps: Explanation['steps']): Step[] {
  return steps.map(({ place: _step, inner, ...step }) => ({
    ...step,
    ...(inner !== undefined && { inner: inner.map(({ place: _inner, ...part }) => part) }),
  }));
}
