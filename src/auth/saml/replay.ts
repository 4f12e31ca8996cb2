/** Ids of used assertions; each is remembered until the assertion expires. Bounded. */
export interface UsedAssertions {
  readonly untilById: Map<string, number>;
  readonly limit: number;
}

/** More than the logins of a gate within the lifetime of an assertion. */
const USED_LIMIT = 100_000;

/** Creates an empty store. */
export function usedAssertions(limit: number = USED_LIMIT): UsedAssertions {
  return { untilById: new Map(), limit };
}

/**
 * Marks an assertion as used. `used`: it was used before. `full`: the limit is reached even without expired
 * ones; the assertion is refused, because forgetting a valid one would allow its replay.
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
