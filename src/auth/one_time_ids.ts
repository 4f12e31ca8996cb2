/** Maximum number of used ids; each is remembered until it expires. */
const USED_LIMIT = 50_000;

/** Used ids of states, logout tokens and logout messages with their expiry, in order of use. */
export type OneTimeIds = Map<string, number>;

/** Marks an id as used until `untilMs`; false if it was used before. */
export function useOnce(used: OneTimeIds, id: string, untilMs: number, nowMs: number): boolean {
  if (used.has(id)) return false;
  for (const [old, until] of used) {
    if (until > nowMs && used.size < USED_LIMIT) break;
    used.delete(old);
  }
  used.set(id, untilMs);
  return true;
}
