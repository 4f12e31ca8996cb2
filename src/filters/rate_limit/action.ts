import { digest } from '../../crypto/digest.ts';
import type { EvalError, Value } from '../../cel/values.ts';
import { encodeJson, textOf } from '../../policy/env/json.ts';
import { type Ask, ask } from '../../engine/contract.ts';
import type { SharedQuestion, WhenUnavailable } from '../../engine/shared_question.ts';
import { KEY_LIMIT, type RateLimiter, newRateLimiter, take, windowText } from './algorithm.ts';
import { type ActionKind, type ActionOutcome, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { type PolicyRun, keepResult } from '../policy_run.ts';
import { durationMs } from '../duration.ts';
import { messages } from './facts.ts';

/** Limits the number of requests in a sliding window, per key. */
export const rateLimit: ActionKind<'rate-limit'> = {
  type: 'rate-limit',
  compile: ({ type, config }, compiling) => {
    const parts = config.bucket_key.map((text, index) => compiling.expression(text, `/bucket_key/${index}`));
    const windowMs = durationMs(config.rate)!;
    const counted = { capacity: config.capacity, windowMs };
    const settings = { ...counted, keyLimit: KEY_LIMIT };
    const limit = { name: config.name, capacity: config.capacity, window: windowText(windowMs) };
    const cell = compiling.cell((identity): Limit => ({
      limiter: newRateLimiter(settings),
      identity,
      id: '',
    }));
    const page = compiling.context.refusal(429, null, 'Too many requests; try again later');
    const step = stepsOf(type, messages, compiling.pointer, config);
    const passed = { verdict: 'pass', step: step('passed', limit) } as const;
    const unchecked = { verdict: 'pass', step: step('unavailable', limit) } as const;
    const unknown = compiling.context.refusal(503, null, 'The limit of requests cannot be checked now');
    const settle = (policyRun: PolicyRun, shown: string, waitMs: number): Settled => {
      keepResult(policyRun, 'rate_limit', { bucket_key: shown, limited: waitMs > 0 });
      if (waitMs === 0) return passed;
      const retryAfter = String(Math.ceil(waitMs / 1_000));
      const detail = { ...limit, retry_after: Number(retryAfter) };
      if (!config.enforce) return { verdict: 'pass', step: step('limited', detail) };
      const response = { ...page, headers: [...page.headers, 'retry-after', retryAfter] };
      return { verdict: 'stop', as: 'denied', step: step('limited', detail), response };
    };
    const takeHere = (policyRun: PolicyRun, key: string): number =>
      take(cell.of(policyRun).limiter, key, policyRun.world.nowMs());
    /** The shared state could not be asked. */
    const withoutAnswer = (
      policyRun: PolicyRun,
      key: string,
      shown: string,
      policy: WhenUnavailable,
    ): Settled => {
      if (policy === 'local') return settle(policyRun, shown, takeHere(policyRun, key));
      keepResult(policyRun, 'rate_limit', { bucket_key: shown, limited: false });
      if (policy === 'allow' || !config.enforce) return unchecked;
      return { verdict: 'stop', as: 'denied', step: step('unavailable', limit), response: unknown };
    };
    const takeShared = (policyRun: PolicyRun, key: string, shown: string): Ask<Settled> => {
      const request = { do: 'take', limit: nameOf(cell.of(policyRun)), key, ...counted } as const;
      return ask<SharedQuestion, Settled>({ ask: 'shared', request }, (answer) => {
        if ('waitMs' in answer) return settle(policyRun, shown, answer.waitMs);
        return withoutAnswer(policyRun, key, shown, 'unavailable' in answer ? answer.unavailable : 'deny');
      });
    };
    return {
      onFailure: config.enforce ? null : { result: 'rate_limit', base: { bucket_key: '', limited: false } },
      run: (policyRun) => {
        const values: Value[] = [];
        for (const part of parts) {
          const value = part(policyRun.activation);
          if (value instanceof Failure) return value;
          values.push(value);
        }
        const key = keyOf(values);
        if (typeof key !== 'string') return compiling.failure(FAILURES.field, key.message);
        // The count changes here, not at the end of the phase: of two requests that both wait later in the
        // policy, only one may take the last place.
        const shown = shownKey(values);
        if (policyRun.world.sharesState === true) return takeShared(policyRun, key, shown);
        return settle(policyRun, shown, takeHere(policyRun, key));
      },
    };
  },
};

/** The state of one limit. */
interface Limit {
  readonly limiter: RateLimiter;
  readonly identity: () => string;
  /** Its name for other nodes; empty until it is asked for. */
  id: string;
}

function nameOf(limit: Limit): string {
  if (limit.id === '') limit.id = limit.identity();
  return limit.id;
}

/** What the action comes to when it is known whether the request is within the limit. */
type Settled = Exclude<ActionOutcome, { readonly verdict: 'ask' }>;

/** The key as expressions see it. */
function shownKey(values: readonly Value[]): string {
  const texts = values.map(textOf);
  return texts.map((text) => (typeof text === 'string' ? text : '')).join(',');
}

const KEY_LIMIT_UNITS = 64;

/** A unique string for a tuple of values. Long strings are replaced by their hash to save memory. */
function keyOf(values: readonly Value[]): string | EvalError {
  let key = '';
  for (const value of values) {
    const text = typeof value === 'string' ? `${value.length}"${value}` : encodeJson(value);
    if (typeof text !== 'string') return text;
    key += `${text}\n`;
  }
  return key.length > KEY_LIMIT_UNITS ? digest('sha256', [key], 'base64') : key;
}
