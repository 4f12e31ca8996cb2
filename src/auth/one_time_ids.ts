/** Ids that count once are remembered until they are past: this many of them. */
const USED_LIMIT = 50_000;

/** Ids of states, logout tokens and logout messages that were used, and when they are past anyway. In order of use. */
export type OneTimeIds = Map<string, number>;

/** Marks a one-time id as used until `untilMs`; false when it has been used before. */
export function useOnce(used: OneTimeIds, id: string, untilMs: number, nowMs: number): boolean {
  if (used.has(id)) return false;
  for (const [old, until] of used) {
    if (until > nowMs && used.size < USED_LIMIT) break;
    used.delete(old);
  }
  used.set(id, untilMs);
  return true;
}
