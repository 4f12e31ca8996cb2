import type { FetchRequest } from '../../engine/contract.ts';
import type { Answers } from '../../engine/questions.ts';
import type { JwsKey } from '../../crypto/jws.ts';
import { KEYS_KEPT_MS, readKeySet } from './algorithm.ts';

/** A fetched key set; without keys if the fetch failed. */
interface Fetched {
  readonly keys: readonly JwsKey[] | null;
  readonly atMs: number;
  /** When these keys could last not be renewed; null if that has not failed. */
  readonly failedMs: number | null;
}

/** Key sets by URL. */
export type KeyCache = Map<string, Fetched>;

/** A failed source is not retried for this long. */
const FAILURE_KEPT_MS = 10_000;
/** A set without the required key is fetched again at this interval at most: its owner may have rotated keys. */
const RENEWED_AFTER_MS = 60_000;
const SETS_KEPT = 100;
const SET_LIMIT_BYTES = 256 * 1_024;
const FETCH_TIMEOUT_MS = 5_000;

/** The cached set of a URL if it is recent enough; null if it must be fetched. */
export function cachedKeys(cache: KeyCache, url: string, nowMs: number): Fetched | null {
  const known = cache.get(url);
  if (known === undefined) return null;
  return isWithin(known.keys === null ? FAILURE_KEPT_MS : KEYS_KEPT_MS, known.atMs, nowMs) ? known : null;
}

/** What comes from a time that is still to come is too old: the clock was set back. */
function isWithin(lifeMs: number, atMs: number, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < lifeMs;
}

/** Whether a set without the right key is old enough to be fetched again. */
export function mayBeRenewed({ atMs }: Fetched, nowMs: number): boolean {
  return nowMs - atMs >= RENEWED_AFTER_MS;
}

/** Whether keys could not be renewed a moment ago: a key that is missing here may exist. */
export function hasJustFailed({ failedMs }: Fetched, nowMs: number): boolean {
  return failedMs !== null && isWithin(FAILURE_KEPT_MS, failedMs, nowMs);
}

/**
 * `allowPrivate`: the URL is literal in the policy, so a request cannot influence it. Anyone can send a token whose
 * signature is wrong, so concurrent requests share one fetch; but not with one whose address is not checked.
 */
export function keysRequest(url: string, allowPrivate: boolean): FetchRequest {
  return {
    method: 'GET',
    url,
    headers: ['accept', 'application/jwk-set+json, application/json'],
    body: null,
    timeoutMs: FETCH_TIMEOUT_MS,
    limitBytes: SET_LIMIT_BYTES,
    maxRedirects: 2,
    staysSecure: true,
    allowPrivate,
    share: `keys ${allowPrivate ? 'anywhere' : 'in public'} ${url}`,
  };
}

/**
 * Caches a fetched set and drops the oldest above the limit. Keys that are recent enough stay if they cannot be renewed:
 * a token with an unknown `kid` causes the renewal, and anyone can send one.
 */
export function keepKeys(cache: KeyCache, url: string, answer: Answers['fetch'], nowMs: number): Fetched {
  const keys = 'failure' in answer || answer.status !== 200 ? null : readKeySet(answer.body);
  const before = keys === null ? cachedKeys(cache, url, nowMs) : null;
  const isKept = before !== null && before.keys !== null;
  const fetched = isKept ? { ...before, failedMs: nowMs } : { keys, atMs: nowMs, failedMs: null };
  cache.delete(url);
  cache.set(url, fetched);
  for (const oldest of cache.keys()) {
    if (cache.size <= SETS_KEPT) break;
    cache.delete(oldest);
  }
  return fetched;
}
