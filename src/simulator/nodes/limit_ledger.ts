import type { Exchange } from '../../engine/exchange.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import { type RateLimiter, KEY_LIMIT, newRateLimiter, take } from '../../filters/rate_limit/algorithm.ts';
import type { SharedAnswer, SharedRequest } from '../../engine/shared_question.ts';

export type TakeRequest = Extract<SharedRequest, { do: 'take' }>;

/** What a limit has let through on all nodes, beside what one node would have. */
export interface LimitReport {
  /** Its name in the policy. */
  readonly name: string;
  readonly capacity: number;
  readonly windowMs: number;
  readonly requests: number;
  readonly admitted: number;
  /** Of the admitted, those that passed unchecked because the shared state could not be asked. */
  readonly unchecked: number;
  /** Refused with 503 because the shared state could not be asked. */
  readonly unavailable: number;
  /** How many of the same requests one node would have admitted. */
  readonly oneNode: number;
  /** The most that were admitted for one key in any span of the window, and when it ended. */
  readonly most: { readonly admitted: number; readonly atMs: number };
}

/** The times of the admitted requests of a key, from `from` on within the window. */
interface Times {
  readonly list: number[];
  from: number;
}

interface Kept {
  readonly id: string;
  readonly capacity: number;
  readonly windowMs: number;
  readonly oneNode: RateLimiter;
  readonly times: Map<string, Times>;
  sweptMs: number;
  requests: number;
  admitted: number;
  unchecked: number;
  unavailable: number;
  alone: number;
  most: number;
  mostAtMs: number;
}

/** Counts what all nodes admit together. Its memory is the admitted requests of one window. */
export class LimitLedger {
  readonly #limits = new Map<string, Kept>();
  readonly #names = new Map<string, string>();

  /** Notes a question of a node and its answer. */
  note(request: TakeRequest, answer: SharedAnswer, nowMs: number): void {
    const limit = this.#limitOf(request, nowMs);
    limit.requests++;
    if (take(limit.oneNode, request.key, nowMs) === 0) limit.alone++;
    if ('unavailable' in answer) {
      if (answer.unavailable === 'deny') limit.unavailable++;
      if (answer.unavailable !== 'allow') return;
      limit.unchecked++;
    } else if (!('waitMs' in answer) || answer.waitMs > 0) return;
    limit.admitted++;
    const count = admittedWithin(limit, request.key, nowMs);
    if (count > limit.most) [limit.most, limit.mostAtMs] = [count, nowMs];
  }

  /** Whether the name of a limit is still unknown. */
  isUnnamed(id: string): boolean {
    return !this.#names.has(id);
  }

  /** The name of a limit, as the steps of a request have it. */
  name(id: string, name: string): void {
    this.#names.set(id, name);
  }

  report(): readonly LimitReport[] {
    return Array.from(this.#limits.values(), (limit) => ({
      name: this.#names.get(limit.id) ?? limit.id,
      capacity: limit.capacity,
      windowMs: limit.windowMs,
      requests: limit.requests,
      admitted: limit.admitted,
      unchecked: limit.unchecked,
      unavailable: limit.unavailable,
      oneNode: limit.alone,
      most: { admitted: limit.most, atMs: limit.mostAtMs },
    }));
  }

  #limitOf({ limit: id, capacity, windowMs }: TakeRequest, nowMs: number): Kept {
    const name = `${id} ${capacity} ${windowMs}`;
    let limit = this.#limits.get(name);
    if (limit === undefined) {
      const oneNode = newRateLimiter({ capacity, windowMs, keyLimit: KEY_LIMIT });
      const counts = { requests: 0, admitted: 0, unchecked: 0, unavailable: 0, alone: 0, most: 0 };
      limit = {
        id,
        capacity,
        windowMs,
        oneNode,
        times: new Map(),
        sweptMs: nowMs,
        ...counts,
        mostAtMs: nowMs,
      };
      this.#limits.set(name, limit);
    }
    return limit;
  }
}

/** Counts an admitted request of a key, and those before it within the window. */
function admittedWithin(limit: Kept, key: string, nowMs: number): number {
  const { times, windowMs } = limit;
  if (nowMs - limit.sweptMs > windowMs) {
    limit.sweptMs = nowMs;
    for (const [each, { list }] of times) if (list.at(-1)! <= nowMs - windowMs) times.delete(each);
  }
  let own = times.get(key);
  if (own === undefined) times.set(key, (own = { list: [], from: 0 }));
  own.list.push(nowMs);
  while (own.list[own.from]! <= nowMs - windowMs) own.from++;
  // Half of the list is past: the rest is moved, which costs as much as what was added since.
  if (own.from > 64 && own.from * 2 > own.list.length) {
    own.list.splice(0, own.from);
    own.from = 0;
  }
  return own.list.length - own.from;
}

/** Actions that count requests by a key. */
const LIMITS = new Set(
  [...ACTION_FACTS.values()].filter(({ countsBy }) => countsBy !== undefined).map(({ type }): string => type),
);

/** The names of the limits that have decided about a request, in the order of their steps. */
export function limitNames(exchange: Exchange): readonly string[] {
  const own = exchange.verdicts.flatMap((verdict) => verdict?.inner ?? []);
  const names = own.flatMap(({ name, detail }) => (LIMITS.has(name) ? [String(detail['name'])] : []));
  return exchange.inside === null ? names : [...names, ...limitNames(exchange.inside)];
}
