import type { Answers, FetchRequest } from '../../../engine/contract.ts';
import { type Value, headerFields } from '../../../expression/values.ts';
import type { ActionResult } from '../../../expression/vocabulary/action_results.ts';
import { headerMapOf } from '../../../expression/vocabulary/header_maps.ts';
import type { ServiceNaming } from '../../../engine/naming.ts';
import { FAILURES } from '../../failure.ts';
import type { Subrequest } from './request.ts';

/** Largest response that is kept, decoded. */
const RESPONSE_LIMIT_BYTES = 256 * 1_024;

/** One try, as expressions see it. */
export interface Attempt {
  readonly request: Subrequest;
  readonly answer: Answers['fetch'];
}

/** What went wrong with a try; null when there was a response. */
export interface AttemptError {
  readonly number: number;
  readonly says: string;
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
  too_large: FAILURES.tooLargeResponse,
  timeout: FAILURES.timeout,
  connect: FAILURES.action,
  invalid: FAILURES.action,
  redirects: FAILURES.action,
} as const;

export function errorOf({ answer }: Attempt): AttemptError | null {
  if (!('failure' in answer)) return null;
  const says = answer.detail === '' ? answer.failure : `${answer.failure}: ${answer.detail}`;
  return { number: NUMBERS[answer.failure], says };
}

/** What an expression sees where no request was sent. */
export const NOTHING_SENT: ActionResult = {
  attempts: [],
  req: { method: '', header: headerFields(), url: '', body: '' },
};

function requestValue({ method, url, headers, body }: Subrequest): Value {
  return { method, header: headerMapOf(headers), url, body };
}

function errorValue(error: AttemptError, naming: ServiceNaming): Value {
  return { code: naming.errorCode(error.number), message: error.says };
}

function responseValue(answer: Answers['fetch']): { readonly res: Value } | Record<string, never> {
  if ('failure' in answer) return {};
  const { status, headers, body, resolvedIp, timeMs } = answer;
  return {
    res: {
      resolved_ip: resolvedIp,
      header: headerMapOf(headers),
      status_code: status,
      time_ms: Math.round(timeMs),
      body: Buffer.from(body).toString('utf8'),
    },
  };
}

/** `last_attempt` of a retry condition. */
export function lastAttemptValue(attempt: Attempt, naming: ServiceNaming): ActionResult {
  const error = errorOf(attempt);
  return {
    req: requestValue(attempt.request),
    ...responseValue(attempt.answer),
    ...(error === null ? {} : { error: errorValue(error, naming) }),
  };
}

/** The result of the action: the last try, and a line on each. */
export function resultValue(attempts: readonly Attempt[], naming: ServiceNaming): ActionResult {
  return {
    ...lastAttemptValue(attempts.at(-1)!, naming),
    attempts: attempts.map((each) => attemptValue(each, naming)),
  };
}

function attemptValue(attempt: Attempt, naming: ServiceNaming): Value {
  const error = errorOf(attempt);
  if (error !== null) return { error: errorValue(error, naming) };
  const { status, headers, resolvedIp, timeMs } = attempt.answer as Exclude<
    Answers['fetch'],
    { failure: unknown }
  >;
  return {
    resolved_ip: resolvedIp,
    response_header: headerMapOf(headers),
    response_status_code: status,
    response_time_ms: Math.round(timeMs),
  };
}
