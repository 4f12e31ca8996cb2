import { digest } from '../../../crypto/digest.ts';
import type { EvalError, Value } from '../../../expression/values.ts';
import { encodeJson } from '../../../expression/vocabulary/json.ts';
import { KEY_LIMIT, newRateLimiter, take } from '../../../mechanisms/rate_limit.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { keepResult } from '../../walk.ts';
import { durationMs } from '../duration.ts';

/** Limits how many requests pass within a sliding window, for each key. */
export const rateLimit: ActionKind<'rate-limit'> = {
  type: 'rate-limit',
  says: {
    passed: 'the request is within the limit',
    limited: 'the request is beyond the limit',
  },
  compile: ({ type, config }, compiling) => {
    const parts = config.bucket_key.map((text, index) => compiling.expression(text, `/bucket_key/${index}`));
    const settings = { capacity: config.capacity, windowMs: durationMs(config.rate)!, keyLimit: KEY_LIMIT };
    const limiter = compiling.cell(() => newRateLimiter(settings));
    const page = compiling.context.refusal(429, null, 'Too many requests; try again later');
    const step = stepsOf(type, rateLimit.says, compiling.pointer);
    const passed = { does: 'next', step: step('passed', { name: config.name }) } as const;
    return {
      onFailure: config.enforce ? null : { result: 'rate_limit', base: { bucket_key: [], limited: false } },
      run: (walk) => {
        const values: Value[] = [];
        for (const part of parts) {
          const value = part(walk.activation);
          if (value instanceof Failure) return value;
          values.push(value);
        }
        const key = keyOf(values);
        if (typeof key !== 'string') return compiling.failure(FAILURES.field, key.says);
        // The count changes here, not when the phase has ended: two requests that both wait for something
        // further on must not both find the last place free.
        const waitMs = take(limiter.of(walk), key, walk.world.nowMs());
        keepResult(walk, 'rate_limit', { bucket_key: values, limited: waitMs > 0 });
        if (waitMs === 0) return passed;
        const retryAfter = String(Math.ceil(waitMs / 1_000));
        const detail = { name: config.name, retry_after: Number(retryAfter) };
        if (!config.enforce) return { does: 'next', step: step('limited', { ...detail, enforced: false }) };
        const response = { ...page, headers: [...page.headers, 'retry-after', retryAfter] };
        return { does: 'end', as: 'denied', step: step('limited', detail), response };
      },
    };
  },
};

const KEY_LIMIT_UNITS = 64;

/** One text for a tuple of values, no two tuples the same. Long ones are replaced by their hash, to save memory. */
function keyOf(values: readonly Value[]): string | EvalError {
  let key = '';
  for (const value of values) {
    const text = typeof value === 'string' ? `${value.length}"${value}` : encodeJson(value);
    if (typeof text !== 'string') return text;
    key += `${text}\n`;
  }
  return key.length > KEY_LIMIT_UNITS ? digest('sha256', [key], 'base64') : key;
}
