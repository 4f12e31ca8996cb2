import type { FetchRequest } from '../../engine/contract.ts';
import type { Answers } from '../../engine/questions.ts';
import { type Value, headerFields } from '../../cel/values.ts';
import type { ActionResult } from '../../policy/env/activation.ts';
import { headerMapOf } from '../../policy/env/header_maps.ts';
import type { Branding } from '../../engine/branding.ts';
import { FAILURES } from '../failure.ts';
import { numbers } from './facts.ts';
import type { Subrequest } from './action_request.ts';

/** Maximum size of a stored response, decoded. */
const RESPONSE_LIMIT_BYTES = 256 * 1_024;

/** One attempt, as expressions see it. */
export interface Attempt {
  readonly request: Subrequest;
  readonly answer: Answers['fetch'];
}

/** The error of an attempt; null if there was a response. */
export interface AttemptError {
  readonly number: number;
  readonly message: string;
}

export function fetchOf(
  { method, url, headers, body }: Subrequest,
  timeoutMs: number,
  maxRedirects: number,
  allowPrivate: boolean,
): FetchRequest {
  const bytes = body === '' ? null : Buffer.from(body, 'utf8');
  return {
    method,
    url,
    headers,
    body: bytes,
    timeoutMs,
    limitBytes: RESPONSE_LIMIT_BYTES,
    maxRedirects,
    allowPrivate,
  };
}

const NUMBERS = {
  too_large: numbers.tooLargeResponse.number,
  timeout: numbers.timeout.number,
  connect: FAILURES.action,
  invalid: FAILURES.action,
  redirects: FAILURES.action,
} as const;

export function errorOf({ answer }: Attempt): AttemptError | null {
  if (!('failure' in answer)) return null;
  const message = answer.detail === '' ? answer.failure : `${answer.failure}: ${answer.detail}`;
  return { number: NUMBERS[answer.failure], message };
}

/** The result if no request was sent. */
export const NOTHING_SENT: ActionResult = {
  attempts: [],
  req: { method: '', header: headerFields(), url: '', body: '' },
};

function requestValue({ method, url, headers, body }: Subrequest): Value {
  return { method, header: headerMapOf(headers), url, body };
}

function errorValue(error: AttemptError, branding: Branding): Value {
  return { code: branding.errorCode(error.number), message: error.message };
}

function responseValue(answer: Answers['fetch']): { readonly res: Value } | Record<string, never> {
  if ('failure' in answer) return {};
  const { status, headers, body, resolvedIp, timeMs } = answer;
  return {
    res: {
      resolved_ip: resolvedIp,
      header: headerMapOf(headers),
      status_code: status,
      time_ms: String(Math.round(timeMs)),
      body: Buffer.from(body).toString('utf8'),
    },
  };
}

/** `last_attempt` of a retry condition. */
export function lastAttemptValue(attempt: Attempt, branding: Branding): ActionResult {
  const error = errorOf(attempt);
  return {
    req: requestValue(attempt.request),
    ...responseValue(attempt.answer),
    ...(error === null ? {} : { error: errorValue(error, branding) }),
  };
}

/** The result of the action: the last attempt, and a summary of each. */
export function resultValue(attempts: readonly Attempt[], branding: Branding): ActionResult {
  return {
    ...lastAttemptValue(attempts.at(-1)!, branding),
    attempts: attempts.map((each) => attemptValue(each, branding)),
  };
}

function attemptValue(attempt: Attempt, branding: Branding): Value {
  const error = errorOf(attempt);
  if (error !== null) return { error: errorValue(error, branding) };
  const { status, headers, resolvedIp, timeMs } = attempt.answer as Exclude<
    Answers['fetch'],
    { failure: unknown }
  >;
  return {
    resolved_ip: resolvedIp,
    response_header: headerMapOf(headers),
    response_status_code: status,
    response_time_ms: String(Math.round(timeMs)),
  };
}
