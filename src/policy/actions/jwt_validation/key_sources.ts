import type { Answers, FetchRequest } from '../../../engine/contract.ts';
import type { JwsKey } from '../../../crypto/jws.ts';
import { readKeySet } from '../../../mechanisms/jwt.ts';

/** A key set as it was fetched; no keys when it could not be. */
interface Fetched {
  readonly keys: readonly JwsKey[] | null;
  readonly atMs: number;
}

/** Key sets by URL. */
export type KeyCache = Map<string, Fetched>;

const KEPT_MS = 15 * 60_000;
/** A source that failed is left alone for a while. */
const FAILURE_KEPT_MS = 10_000;
/** A set that lacks a key is fetched again, but not more often than this: its owner may have changed keys. */
const RENEWED_AFTER_MS = 60_000;
const SETS_KEPT = 100;
const SET_LIMIT_BYTES = 256 * 1_024;
const FETCH_TIMEOUT_MS = 5_000;

/** The set of a URL where it is known and young enough; null when it must be fetched. */
export function cachedKeys(cache: KeyCache, url: string, nowMs: number): Fetched | null {
  const known = cache.get(url);
  if (known === undefined) return null;
  return nowMs - known.atMs < (known.keys === null ? FAILURE_KEPT_MS : KEPT_MS) ? known : null;
}

/** Whether a set that did not have the right key is old enough to be asked for again. */
export function mayBeRenewed({ atMs }: Fetched, nowMs: number): boolean {
  return nowMs - atMs >= RENEWED_AFTER_MS;
}

/** `allowPrivate`: the URL stands in the policy as it is, and no request has a part in it. */
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

/** Keeps what a fetch has given, forgetting the oldest set when there are too many. */
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
