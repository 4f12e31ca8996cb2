/** Ids of assertions that have been used, each until it is refused by its own times. Bounded. */
export interface UsedAssertions {
  readonly untilById: Map<string, number>;
  readonly limit: number;
}

/** More logins than a gate sees within the life of an assertion. */
const USED_LIMIT = 100_000;

/** Makes an empty memory. */
export function usedAssertions(limit: number = USED_LIMIT): UsedAssertions {
  return { untilById: new Map(), limit };
}

/**
 * Uses an assertion up: `used` when it was used before. `full` when there is no room although the expired ones
 * are forgotten: then it is refused, for forgetting one that is still good would let it be replayed.
 */
export function useAssertion(
  used: UsedAssertions,
  id: string,
  untilMs: number,
  nowMs: number,
): 'fresh' | 'used' | 'full' {
  if (used.untilById.has(id)) return 'used';
  if (used.untilById.size >= used.limit) forget(used, nowMs);
  if (used.untilById.size >= used.limit) return 'full';
  used.untilById.set(id, untilMs);
  return 'fresh';
}

function forget({ untilById }: UsedAssertions, nowMs: number): void {
  for (const [id, untilMs] of untilById) if (untilMs <= nowMs) untilById.delete(id);
}
