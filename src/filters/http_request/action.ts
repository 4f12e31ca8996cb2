import type { Activation } from '../../policy/env/activation.ts';
import { type ActionKind, type ActionOutcome, stepsOf } from '../action.ts';
import { ask } from '../../engine/contract.ts';
import { FAILURES, Failure } from '../failure.ts';
import { type PolicyRun, keepResult } from '../policy_run.ts';
import { durationMs } from '../duration.ts';
import {
  type Attempt,
  NOTHING_SENT,
  errorOf,
  fetchOf,
  lastAttemptValue,
  resultValue,
} from './action_attempts.ts';
import { type Subrequest, compileSubrequest } from './action_request.ts';
import { messages } from './facts.ts';

const RETRY_LIMIT = 3;

/** Sends a request and stores the response for later expressions. */
export const httpRequest: ActionKind<'http-request'> = {
  type: 'http-request',
  compile: ({ type, config }, compiling) => {
    const subrequestOf = compileSubrequest(config, compiling);
    const retries = compiling.expression(config.retry_condition, '/retry_condition', 'retry');
    const totalMs = durationMs(config.timeout)!;
    const continuesOnError = config.on_error === 'continue';
    const { branding, allowPrivateFetch } = compiling.context;
    const step = stepsOf(type, messages, compiling.pointer);

    const send = (
      policyRun: PolicyRun,
      request: Subrequest,
      untilMs: number,
      before: readonly Attempt[],
    ): ActionOutcome => {
      const timeoutMs = Math.max(1, untilMs - policyRun.world.nowMs());
      const question = fetchOf(request, timeoutMs, config.max_redirects, allowPrivateFetch);
      return ask({ ask: 'fetch', request: question }, (answer) => {
        const attempts = [...before, { request, answer }];
        const again = isRetried(policyRun, attempts, untilMs);
        if (again instanceof Failure) return again;
        return again ? send(policyRun, request, untilMs, attempts) : finish(policyRun, attempts);
      });
    };

    /** Whether to retry: the condition is true, and neither attempts nor time are used up. */
    const isRetried = (
      policyRun: PolicyRun,
      attempts: readonly Attempt[],
      untilMs: number,
    ): boolean | Failure => {
      const { activation } = policyRun;
      activation.attempts = attempts.length;
      activation.lastAttempt = lastAttemptValue(attempts.at(-1)!, branding);
      const wanted = evaluateRetry(activation);
      if (wanted instanceof Failure) return wanted;
      return wanted && attempts.length <= RETRY_LIMIT && policyRun.world.nowMs() < untilMs;
    };

    const evaluateRetry = (activation: Activation): boolean | Failure => {
      const wanted = retries(activation);
      if (typeof wanted === 'boolean' || wanted instanceof Failure) return wanted;
      return compiling.failure(FAILURES.field, 'retry_condition is not a bool');
    };

    const finish = (policyRun: PolicyRun, attempts: readonly Attempt[]): ActionOutcome => {
      const last = attempts.at(-1)!;
      const error = errorOf(last);
      if (error !== null && !continuesOnError) return compiling.failure(error.number, error.message);
      keepResult(policyRun, 'http_request', resultValue(attempts, branding));
      const { url } = last.request;
      if (error !== null) return { verdict: 'pass', step: step('failed', { url, error: error.message }) };
      const status = 'status' in last.answer ? last.answer.status : 0;
      return { verdict: 'pass', step: step('answered', { url, status, attempts: attempts.length }) };
    };

    return {
      onFailure: continuesOnError ? { result: 'http_request', base: NOTHING_SENT } : null,
      run: (policyRun) => {
        const request = subrequestOf(policyRun);
        if (request instanceof Failure) return request;
        return send(policyRun, request, policyRun.world.nowMs() + totalMs, []);
      },
    };
  },
};
