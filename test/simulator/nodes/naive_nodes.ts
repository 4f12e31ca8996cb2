import type { LimitsMode, Member, NodesSetting } from '../../../src/simulator/nodes/setting.ts';

/** What happens in a random run, at its time in ms. */
export type Act =
  | { readonly atMs: number; readonly does: 'request'; readonly node: number; readonly ip: string }
  | { readonly atMs: number; readonly does: 'cut'; readonly groups: readonly (readonly Member[])[] }
  | { readonly atMs: number; readonly does: 'join' }
  | { readonly atMs: number; readonly does: 'configure'; readonly on: number };

export interface Answer {
  readonly status: number;
  readonly revision: number;
}

/** Every admitted request, with who counted it. */
interface Counted {
  readonly counter: string;
  readonly slot: number;
}

const SLOT_MS = 6_000;

/**
 * A model that keeps lists and searches them: who can reach whom is asked of the last cut, the revision of a node of all
 * times at which it heard, and a window of all requests so far.
 */
export function naiveNodes(
  acts: readonly Act[],
  capacities: readonly number[],
  { count, limits, whenUnavailable, delayMs }: NodesSetting,
): readonly Answer[] {
  const changes = acts.filter(({ does }) => does !== 'request');
  const groupsAt = (index: number): readonly (readonly Member[])[] => {
    const last = acts.slice(0, index + 1).findLast(({ does }) => does === 'cut' || does === 'join');
    return last?.does === 'cut' ? last.groups : [];
  };
  const areTogether = (index: number, one: Member, other: Member): boolean => {
    const groupOf = (member: Member) => groupsAt(index).findIndex((group) => group.includes(member));
    return groupOf(one) === groupOf(other);
  };
  const writes = acts.flatMap((act, index) =>
    act.does === 'configure' && areTogether(index, act.on, 'store') ? [{ index, on: act.on }] : [],
  );
  /** The index of the last act before a time: what is heard at a time comes before the act of that time. */
  const lastBefore = (ms: number): number => acts.findLastIndex(({ atMs }) => atMs < ms);
  /** Since when a node that can reach the store can do so. */
  const togetherSince = (index: number, node: number): number => {
    const apart = acts.findLastIndex((_act, at) => at <= index && !areTogether(at, node, 'store'));
    return apart < 0 ? Number.NEGATIVE_INFINITY : acts[apart + 1]!.atMs;
  };
  const revisionOf = (node: number, index: number): number => {
    const heard = changes
      .map(({ atMs }) => atMs + delayMs)
      .filter((ms) => ms <= acts[index]!.atMs)
      .filter((ms) => areTogether(lastBefore(ms), node, 'store'))
      .map((ms) => {
        const sinceMs = togetherSince(lastBefore(ms), node);
        return writes.filter((write) => Math.max(acts[write.index]!.atMs, sinceMs) + delayMs <= ms).length;
      });
    const own = writes.flatMap((write, at) => (write.on === node && write.index <= index ? [at + 1] : []));
    return 1 + Math.max(0, ...heard, ...own);
  };
  const counted: Counted[] = [];
  const firstMs = new Map<string, number>();
  /** Whether a counter has room, which then counts the request. */
  const admits = (counter: string, key: string, capacity: number, ms: number): boolean => {
    if (capacity === 0) return false;
    const startMs = firstMs.get(counter) ?? ms;
    firstMs.set(counter, startMs);
    const slot = Math.floor((ms - startMs) / SLOT_MS);
    const own = counted.filter((each) => each.counter === `${counter} ${key}` && each.slot >= slot - 10);
    if (own.length >= capacity) return false;
    counted.push({ counter: `${counter} ${key}`, slot });
    return true;
  };
  return acts.flatMap((act, index): Answer[] => {
    if (act.does !== 'request') return [];
    const { node, ip, atMs } = act;
    const revision = revisionOf(node, index);
    const capacity = capacities[revision - 1]!;
    const where = counterOf(limits, areTogether(index, node, 'state'), whenUnavailable);
    if (where === 'deny') return [{ status: 503, revision }];
    if (where === 'allow') return [{ status: 200, revision }];
    const part = Math.floor(capacity / count) + (node <= capacity % count ? 1 : 0);
    const own = where === 'part' ? part : capacity;
    const counter = where === 'all' ? `all, ${capacity}` : `${where} of ${node}, ${capacity}`;
    return [{ status: admits(counter, ip, own, atMs) ? 200 : 429, revision }];
  });
}

function counterOf(
  limits: LimitsMode,
  hasState: boolean,
  whenUnavailable: NodesSetting['whenUnavailable'],
): 'all' | 'part' | 'own' | 'deny' | 'allow' {
  if (limits === 'divided') return 'part';
  if (limits === 'local') return 'own';
  if (hasState) return 'all';
  return whenUnavailable === 'local' ? 'own' : whenUnavailable;
}
