import type { Activation } from '../../../expression/vocabulary/activation.ts';
import type { ActionKind, ActionOutcome } from '../../action.ts';
import { stepsOf, waitFor } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { type Walk, keepResult } from '../../walk.ts';
import { durationMs } from '../duration.ts';
import { type Attempt, NOTHING_SENT, errorOf, fetchOf, lastAttemptValue, resultValue } from './attempts.ts';
import { type Subrequest, compileSubrequest } from './request.ts';

const RETRY_LIMIT = 3;

/** Sends a request of its own, and keeps the response for the expressions after it. */
export const httpRequest: ActionKind<'http-request'> = {
  type: 'http-request',
  says: {
    answered: 'the request of the policy was answered',
    failed: 'the request of the policy failed, and the policy is told to go on',
  },
  compile: ({ type, config }, compiling) => {
    const subrequestOf = compileSubrequest(config, compiling);
    const retries = compiling.expression(config.retry_condition, '/retry_condition', 'retry');
    const totalMs = durationMs(config.timeout)!;
    const goesOn = config.on_error === 'continue';
    const { naming, allowPrivateFetch } = compiling.context;
    const step = stepsOf(type, httpRequest.says, compiling.pointer);

    const send = (
      walk: Walk,
      request: Subrequest,
      untilMs: number,
      before: readonly Attempt[],
    ): ActionOutcome => {
      const timeoutMs = Math.max(1, untilMs - walk.world.nowMs());
      const question = fetchOf(request, timeoutMs, config.max_redirects, allowPrivateFetch);
      return waitFor({ ask: 'fetch', request: question }, (answer) => {
        const attempts = [...before, { request, answer }];
        const again = isRetried(walk, attempts, untilMs);
        if (again instanceof Failure) return again;
        return again ? send(walk, request, untilMs, attempts) : finish(walk, attempts);
      });
    };

    /** Whether to try again: the condition says so, and neither tries nor time are used up. */
    const isRetried = (walk: Walk, attempts: readonly Attempt[], untilMs: number): boolean | Failure => {
      const { activation } = walk;
      activation.attempts = attempts.length;
      activation.lastAttempt = lastAttemptValue(attempts.at(-1)!, naming);
      const wanted = evaluateRetry(activation);
      if (wanted instanceof Failure) return wanted;
      return wanted && attempts.length <= RETRY_LIMIT && walk.world.nowMs() < untilMs;
    };

    const evaluateRetry = (activation: Activation): boolean | Failure => {
      const wanted = retries(activation);
      if (typeof wanted === 'boolean' || wanted instanceof Failure) return wanted;
      return compiling.failure(FAILURES.field, 'retry_condition is neither true nor false');
    };

    const finish = (walk: Walk, attempts: readonly Attempt[]): ActionOutcome => {
      const last = attempts.at(-1)!;
      const error = errorOf(last);
      if (error !== null && !goesOn) return compiling.failure(error.number, error.says);
      keepResult(walk, 'http_request', resultValue(attempts, naming));
      const { url } = last.request;
      if (error !== null) return { does: 'next', step: step('failed', { url, error: error.says }) };
      const status = 'status' in last.answer ? last.answer.status : 0;
      return { does: 'next', step: step('answered', { url, status, attempts: attempts.length }) };
    };

    return {
      onFailure: goesOn ? { result: 'http_request', base: NOTHING_SENT } : null,
      run: (walk) => {
        const request = subrequestOf(walk);
        if (request instanceof Failure) return request;
        return send(walk, request, walk.world.nowMs() + totalMs, []);
      },
    };
  },
};
