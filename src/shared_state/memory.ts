import type { SharedAnswer, SharedRequest } from '../engine/shared_question.ts';
import { type OneTimeIds, useOnce } from '../auth/registry.ts';
import { useAssertion, usedAssertions } from '../auth/saml/replay.ts';
import { TEXT_LIMIT_UNITS } from './port.ts';
import { KEY_LIMIT, type RateLimiter, newRateLimiter, take } from '../filters/rate_limit/algorithm.ts';

/** Kept texts; the oldest make way. */
const TEXTS_LIMIT = 5_000;

interface KeptText {
  readonly text: string;
  readonly untilMs: number;
}

interface KeptLimit {
  readonly limiter: RateLimiter;
  usedMs: number;
}

/** The state in this process, with the algorithms of a single process; pure, on the clock of its caller. */
export interface MemoryState {
  readonly answer: (request: Exclude<SharedRequest, { do: 'publish' }>, nowMs: number) => SharedAnswer;
  /** Number of limits, for tests. */
  readonly limits: () => number;
}

/** An empty state. Its memory is bounded by the number of limits in the configuration. */
export function memoryState(): MemoryState {
  const limits = new Map<string, KeptLimit>();
  const used = { state: new Map(), message: new Map(), check: new Map() } satisfies Record<
    string,
    OneTimeIds
  >;
  const assertions = usedAssertions();
  const texts = new Map<string, KeptText>();

  const limitOf = (request: Extract<SharedRequest, { do: 'take' }>, nowMs: number): RateLimiter => {
    const { limit: id, capacity, windowMs } = request;
    const name = `${id} ${capacity} ${windowMs}`;
    let kept = limits.get(name);
    if (kept === undefined) {
      forgetLimits(limits, nowMs);
      kept = { limiter: newRateLimiter({ capacity, windowMs, keyLimit: KEY_LIMIT }), usedMs: nowMs };
      limits.set(name, kept);
    }
    kept.usedMs = nowMs;
    return kept.limiter;
  };
  return {
    answer: (request, nowMs) => {
      switch (request.do) {
        case 'take':
          return { waitMs: take(limitOf(request, nowMs), request.key, nowMs) };
        case 'use_once': {
          const { of, id, untilMs } = request;
          if (of === 'assertion') return { use: useAssertion(assertions, id, untilMs, nowMs) };
          return { use: useOnce(used[of], id, untilMs, nowMs) ? 'fresh' : 'used' };
        }
        case 'keep':
          keepText(texts, request, nowMs);
          return { done: true };
        case 'find': {
          const kept = texts.get(request.id);
          return { text: kept === undefined || kept.untilMs <= nowMs ? null : kept.text };
        }
      }
    },
    limits: () => limits.size,
  };
}

/** Drops the limits of earlier configurations: those whose counts have all expired. */
function forgetLimits(limits: Map<string, KeptLimit>, nowMs: number): void {
  for (const [name, { limiter, usedMs }] of limits)
    if (nowMs - usedMs > limiter.settings.windowMs * 2) limits.delete(name);
}

function keepText(
  texts: Map<string, KeptText>,
  { id, text, untilMs }: Extract<SharedRequest, { do: 'keep' }>,
  nowMs: number,
): void {
  if (text.length > TEXT_LIMIT_UNITS) return;
  texts.delete(id);
  texts.set(id, { text, untilMs });
  for (const [old, kept] of texts) {
    if (texts.size <= TEXTS_LIMIT && kept.untilMs > nowMs) break;
    texts.delete(old);
  }
}
