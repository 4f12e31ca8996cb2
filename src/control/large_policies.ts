import { setImmediate } from 'node:timers/promises';
import type { ValidationCache } from '../edge/document/validation_cache.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { conditionsAhead } from '../policy/conditions_ahead.ts';
import { LARGE_POLICY } from '../policy/facts.ts';
import type { Steps } from '../config_file/steps.ts';
import type { DataPlane } from './api/contract.ts';
import type { EdgeChange } from './api/edge_slice.ts';
import type { EdgeDocument } from './resources/edge_document.ts';

/** Work on the large policies of a change in slices, so that the event loop keeps running. The swap finds the results. */
export interface LargePolicies extends Pick<DataPlane, 'prepare'> {
  /**
   * Checks the large policies of a change, and compiles them with what `compile` gives; `prepare` comes
   * first.
   */
  readonly ahead: (change: EdgeChange, compile: () => Steps<void>) => Promise<void>;
  /** The swap has compiled them, or will not. */
  readonly swapped: () => void;
  /** The swap has checked them. */
  readonly checked: () => void;
}

/** `known` is the cache of the swap's check. */
export function largePolicies(service: string, known: ValidationCache): LargePolicies {
  // What was compiled for the next swap, kept here so that it is not lost.
  const conditions = new Set<object>();
  /** Whether the next swap has large policies. */
  let hasLarge = false;
  return {
    prepare: async (policies) => {
      conditions.clear();
      known.policies.forget();
      const large = new Set(Array.from(policies).filter((text) => text.length >= LARGE_POLICY));
      hasLarge = large.size > 0;
      for (const text of large) {
        await setImmediate();
        const value = known.policies.valueOf(text);
        await setImmediate();
        for (const each of await inSlices(conditionsAhead(value, service))) conditions.add(each);
      }
    },
    ahead: async ({ document }, compile) => {
      if (!hasLarge) return;
      for (const asked of checksIn(document, known)) await inSlices(known.policies.ahead(...asked));
      await inSlices(compile());
    },
    checked: known.policies.forget,
    swapped: () => conditions.clear(),
  };
}

/** Does work with a turn of the event loop in each pause. */
async function inSlices<Result>(work: Steps<Result>): Promise<Result> {
  let step = work.next();
  for (; step.done !== true; step = work.next()) await setImmediate();
  return step.value;
}

type Check = ValidationCache['policies']['check'];

/** The checks of large policies that a check of the document would make. Nothing of it is remembered. */
function checksIn({ value, endpoints }: EdgeDocument, known: ValidationCache): readonly Parameters<Check>[] {
  const asked: Parameters<Check>[] = [];
  const check: Check = (attached, setting) => {
    if (attached.text.length >= LARGE_POLICY) asked.push([attached, setting]);
    return { document: null, diagnostics: [] };
  };
  const cache = { ...known, policies: { ...known.policies, check }, found: () => undefined };
  checkWholeEdge({ value }, { cache, endpoints, places: false });
  return asked;
}
