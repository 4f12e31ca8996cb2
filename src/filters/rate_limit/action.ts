import { digest } from '../../crypto/digest.ts';
import type { EvalError, Value } from '../../cel/values.ts';
import { encodeJson, textOf } from '../../policy/env/json.ts';
import { KEY_LIMIT, newRateLimiter, take, windowText } from './algorithm.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { keepResult } from '../policy_run.ts';
import { durationMs } from '../duration.ts';
import { messages } from './facts.ts';

/** Limits the number of requests in a sliding window, per key. */
export const rateLimit: ActionKind<'rate-limit'> = {
  type: 'rate-limit',
  compile: ({ type, config }, compiling) => {
    const parts = config.bucket_key.map((text, index) => compiling.expression(text, `/bucket_key/${index}`));
    const windowMs = durationMs(config.rate)!;
    const settings = { capacity: config.capacity, windowMs, keyLimit: KEY_LIMIT };
    const limit = { name: config.name, capacity: config.capacity, window: windowText(windowMs) };
    const limiter = compiling.cell(() => newRateLimiter(settings));
    const page = compiling.context.refusal(429, null, 'Too many requests; try again later');
    const step = stepsOf(type, messages, compiling.pointer, config);
    const passed = { verdict: 'pass', step: step('passed', limit) } as const;
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
        const waitMs = take(limiter.of(policyRun), key, policyRun.world.nowMs());
        keepResult(policyRun, 'rate_limit', { bucket_key: shownKey(values), limited: waitMs > 0 });
        if (waitMs === 0) return passed;
        const retryAfter = String(Math.ceil(waitMs / 1_000));
        const detail = { ...limit, retry_after: Number(retryAfter) };
        if (!config.enforce) return { verdict: 'pass', step: step('limited', detail) };
        const response = { ...page, headers: [...page.headers, 'retry-after', retryAfter] };
        return { verdict: 'stop', as: 'denied', step: step('limited', detail), response };
      },
    };
  },
};

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
