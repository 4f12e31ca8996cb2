import type { JwsKey } from '../../crypto/jws.ts';
import { type Token, type TokenProblem, signatureProblem } from './algorithm.ts';
import { ask } from '../../engine/contract.ts';
import type { ActionOutcome } from '../action.ts';
import type { PolicyRun } from '../policy_run.ts';
import {
  type KeyCache,
  cachedKeys,
  hasJustFailed,
  keepKeys,
  keysRequest,
  mayBeRenewed,
} from './action_key_sources.ts';
import type { Fault } from './action_refusals.ts';
import type { FoundToken } from './action_tokens.ts';

/** A token whose claims are valid; its signature is not verified yet. */
export interface Signed {
  readonly found: FoundToken;
  readonly token: Token;
}

/** State of the search for keys. */
export interface Job {
  readonly tokens: readonly Signed[];
  readonly urls: readonly string[];
  /** Index of the token that is verified, and of the source that is used. */
  readonly at: number;
  readonly source: number;
  readonly problem: TokenProblem | null;
  /** A source that could not be fetched: it might have had the right key. */
  readonly unreachable: string | null;
}

export function beginJob(tokens: readonly Signed[], urls: readonly string[]): Job {
  return { tokens, urls, at: 0, source: 0, problem: null, unreachable: null };
}

/** The possible results. */
export interface Ending {
  readonly cache: KeyCache;
  /** Whether the source may be on this machine or its network. */
  readonly allowPrivate: (url: string) => boolean;
  readonly accept: () => ActionOutcome;
  readonly refuse: (token: number, fault: Fault, message: string) => ActionOutcome;
  readonly unreachable: (url: string) => ActionOutcome;
}

const NO_SOURCE: TokenProblem = { fault: 'no_key', message: 'the policy has no source of keys' };

/**
 * Verifies the tokens in order. The keys of each source are tried in turn; a source is fetched only if those
 * before it have no matching key, and fetched again if it has none but might have been updated since.
 */
export function verifySignatures(policyRun: PolicyRun, job: Job, ending: Ending): ActionOutcome {
  const { tokens, urls, at, source } = job;
  if (at === tokens.length) return ending.accept();
  const url = urls[source];
  if (url === undefined) {
    if (job.unreachable !== null) return ending.unreachable(job.unreachable);
    const { fault, message } = job.problem ?? NO_SOURCE;
    return ending.refuse(at, fault, message);
  }
  const nowMs = policyRun.world.nowMs();
  const known = cachedKeys(ending.cache, url, nowMs);
  if (known !== null) {
    const tried = tryKeys(job, url, known.keys);
    const lacksKey = tried.at === at && tried.problem?.fault === 'no_key' && known.keys !== null;
    if (!lacksKey) return verifySignatures(policyRun, tried, ending);
    if (hasJustFailed(known, nowMs))
      return verifySignatures(policyRun, { ...tried, unreachable: url }, ending);
    if (!mayBeRenewed(known, nowMs)) return verifySignatures(policyRun, tried, ending);
  }
  return ask({ ask: 'fetch', request: keysRequest(url, ending.allowPrivate(url)) }, (answer) => {
    const { keys, failedMs } = keepKeys(ending.cache, url, answer, policyRun.world.nowMs());
    return verifySignatures(policyRun, tryKeys(job, url, failedMs === null ? keys : null), ending);
  });
}

function tryKeys(job: Job, url: string, keys: readonly JwsKey[] | null): Job {
  if (keys === null) return { ...job, source: job.source + 1, unreachable: url };
  const problem = signatureProblem(job.tokens[job.at]!.token, keys);
  if (problem === null) return { ...job, at: job.at + 1, source: 0, problem: null, unreachable: null };
  // A failed verification is more informative than a missing key.
  const reported = problem.fault === 'no_key' ? (job.problem ?? problem) : problem;
  return { ...job, source: job.source + 1, problem: reported };
}
