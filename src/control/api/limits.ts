import { ApiProblem } from '../resources/problem.ts';

const WINDOW_MS = 60_000;
/** The documented error number for too many requests. */
const TOO_MANY = 226;

/** Counts events in any 60 seconds. */
class Recent {
  #times: number[] = [];

  /** Null if the event is within the limit, and counted; otherwise seconds until the next one may be. */
  count(limit: number, now: number): number | null {
    this.#times = this.#times.filter((time) => time > now - WINDOW_MS);
    if (this.#times.length >= limit) return Math.ceil((this.#times[0]! + WINDOW_MS - now) / 1_000);
    this.#times.push(now);
    return null;
  }
}

/**
 * Limits requests in any 60 seconds; throws the documented error above the limit. Does nothing without a
 * limit.
 */
export function rateLimit(limit: number | undefined, nowMs: () => number): () => void {
  if (limit === undefined) return () => {};
  const recent = new Recent();
  return () => {
    const seconds = recent.count(limit, nowMs());
    if (seconds !== null)
      throw tooMany(`More than ${limit} requests in 60 seconds; try again later.`, seconds);
  };
}

function tooMany(message: string, seconds: number): ApiProblem {
  return new ApiProblem(429, TOO_MANY, message, { retry_after: String(seconds) });
}

const WRONG_KEYS = 60;
/** Oldest addresses are forgotten beyond this number. */
const ADDRESSES = 10_000;
/** Errors for keys that are malformed, unknown, or something other than a key. */
const WRONG: ReadonlySet<number | null> = new Set([202, 203, 206, 207, 208]);

/**
 * Limits wrong keys from one address in any 60 seconds: the error to respond with instead. Valid keys from the same
 * address are not affected, so that no client can lock others out.
 */
export function wrongKeyLimit(nowMs: () => number): (error: unknown, address: string) => unknown {
  const addresses = new Map<string, Recent>();
  return (error, address) => {
    if (!(error instanceof ApiProblem) || !WRONG.has(error.number)) return error;
    const recent = addresses.get(address) ?? new Recent();
    addresses.delete(address);
    addresses.set(address, recent);
    if (addresses.size > ADDRESSES) addresses.delete(addresses.keys().next().value!);
    const seconds = recent.count(WRONG_KEYS, nowMs());
    return seconds === null ? error : tooMany(`More than ${WRONG_KEYS} wrong keys in 60 seconds.`, seconds);
  };
}
