import type { JwsKey } from '../../../crypto/jws.ts';
import { type Token, type TokenProblem, signatureProblem } from '../../../mechanisms/jwt.ts';
import { type ActionOutcome, waitFor } from '../../action.ts';
import type { Walk } from '../../walk.ts';
import { type KeyCache, cachedKeys, keepKeys, keysRequest, mayBeRenewed } from './key_sources.ts';
import type { Fault } from './refusals.ts';
import type { FoundToken } from './tokens.ts';

/** A token that says what it should; whether it is signed is yet to be seen. */
export interface Signed {
  readonly found: FoundToken;
  readonly token: Token;
}

/** Where the search for keys stands. */
export interface Job {
  readonly tokens: readonly Signed[];
  readonly urls: readonly string[];
  /** The token that is verified, and the source that is asked. */
  readonly at: number;
  readonly source: number;
  readonly problem: TokenProblem | null;
  /** A source that could not be read: its keys might have been the right ones. */
  readonly unreachable: string | null;
}

export function beginJob(tokens: readonly Signed[], urls: readonly string[]): Job {
  return { tokens, urls, at: 0, source: 0, problem: null, unreachable: null };
}

/** What comes of it. */
export interface Ending {
  readonly cache: KeyCache;
  /** Whether the source may be on this machine or its network. */
  readonly allowPrivate: (url: string) => boolean;
  readonly accept: () => ActionOutcome;
  readonly refuse: (token: number, fault: Fault, says: string) => ActionOutcome;
  readonly unreachable: (url: string) => ActionOutcome;
}

const NO_SOURCE: TokenProblem = { fault: 'no_key', says: 'the policy names no source of keys' };

/**
 * Verifies token by token. The keys of each source are tried in turn; a source is fetched only when those before it
 * have no right key, and fetched again when it has none but may have got one since.
 */
export function verifySignatures(walk: Walk, job: Job, ending: Ending): ActionOutcome {
  const { tokens, urls, at, source } = job;
  if (at === tokens.length) return ending.accept();
  const url = urls[source];
  if (url === undefined) {
    if (job.unreachable !== null) return ending.unreachable(job.unreachable);
    const { fault, says } = job.problem ?? NO_SOURCE;
    return ending.refuse(at, fault, says);
  }
  const nowMs = walk.world.nowMs();
  const known = cachedKeys(ending.cache, url, nowMs);
  if (known !== null) {
    const tried = tryKeys(job, url, known.keys);
    const lacksKey = tried.at === at && tried.problem?.fault === 'no_key' && known.keys !== null;
    if (!lacksKey || !mayBeRenewed(known, nowMs)) return verifySignatures(walk, tried, ending);
  }
  return waitFor({ ask: 'fetch', request: keysRequest(url, ending.allowPrivate(url)) }, (answer) => {
    const { keys } = keepKeys(ending.cache, url, answer, walk.world.nowMs());
    return verifySignatures(walk, tryKeys(job, url, keys), ending);
  });
}

function tryKeys(job: Job, url: string, keys: readonly JwsKey[] | null): Job {
  if (keys === null) return { ...job, source: job.source + 1, unreachable: url };
  const problem = signatureProblem(job.tokens[job.at]!.token, keys);
  if (problem === null) return { ...job, at: job.at + 1, source: 0, problem: null, unreachable: null };
  // That a key was there and did not fit says more than that there was none.
  const said = problem.fault === 'no_key' ? (job.problem ?? problem) : problem;
  return { ...job, source: job.source + 1, problem: said };
}
