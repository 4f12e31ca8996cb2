import type { FetchRequest } from '../../engine/contract.ts';
import type { Answers } from '../../engine/questions.ts';
import type { JwsKey } from '../../crypto/jws.ts';
import { KEYS_KEPT_MS, readKeySet } from './algorithm.ts';

/** A fetched key set; without keys if the fetch failed. */
interface Fetched {
  readonly keys: readonly JwsKey[] | null;
  readonly atMs: number;
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
  return nowMs - known.atMs < (known.keys === null ? FAILURE_KEPT_MS : KEYS_KEPT_MS) ? known : null;
}

/** Whether a set without the right key is old enough to be fetched again. */
export function mayBeRenewed({ atMs }: Fetched, nowMs: number): boolean {
  return nowMs - atMs >= RENEWED_AFTER_MS;
}

/** `allowPrivate`: the URL is literal in the policy, so a request cannot influence it. */
export function keysRequest(url: string, allowPrivate: boolean): FetchRequest {
  return {
    method: 'GET',
    url,
    headers: ['accept', 'application/jwk-set+json, application/json'],
    body: null,
    timeoutMs: FETCH_TIMEOUT_MS,
    limitBytes: SET_LIMIT_BYTES,
    maxRedirects: 2,
    allowPrivate,
  };
}

/** Caches a fetched set and drops the oldest above the limit. */
export function keepKeys(cache: KeyCache, url: string, answer: Answers['fetch'], nowMs: number): Fetched {
  const keys = 'failure' in answer || answer.status !== 200 ? null : readKeySet(answer.body);
  const fetched = { keys, atMs: nowMs };
  cache.delete(url);
  cache.set(url, fetched);
  for (const oldest of cache.keys()) {
    if (cache.size <= SETS_KEPT) break;
    cache.delete(oldest);
  }
  return fetched;
}
