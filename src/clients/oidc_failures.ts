import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client';
import type { OidcAnswer, OidcFailure } from '../engine/oidc_question.ts';
import { isNoAnswer } from '../http/bodyless.ts';

/** Errors of a grant that deny the user, as opposed to a misconfigured app (RFC 6749 §4.1.2.1, §5.2). */
const DENIALS: ReadonlySet<string> = new Set([
  'access_denied',
  'invalid_grant',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);

/** The provider gave no complete HTTP response, for whatever reason: that says nothing about the user or the token. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
}

/** Classifies an exception of the library; `otherwise` is the default. */
export function failureOf(error: unknown, otherwise: OidcFailure): OidcAnswer {
  const failure = kindOf(error, otherwise);
  return { failure, detail: detailOf(error) };
}

function kindOf(error: unknown, otherwise: OidcFailure): OidcFailure {
  if (error instanceof AuthorizationResponseError) return DENIALS.has(error.error) ? 'denied' : 'invalid';
  if (error instanceof ResponseBodyError) {
    if (DENIALS.has(error.error)) return 'denied';
    return isSilent(error.response) ? 'unreachable' : 'invalid';
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    if (error.status === 401) return 'denied';
    return isSilent(error.response) ? 'unreachable' : 'invalid';
  }
  if (!(error instanceof Error)) return otherwise;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'OAUTH_TIMEOUT' || error.name === 'TimeoutError') return 'timeout';
  const { cause } = error;
  if (code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' && isResponse(cause) && isSilent(cause)) return 'unreachable';
  if (code.startsWith('OAUTH_') && otherwise !== 'discovery') return 'invalid';
  return chainOf(error).some((each) => each instanceof NoResponse) ? 'unreachable' : otherwise;
}

/** There are several classes of responses in a process. */
function isResponse(value: unknown): value is Response {
  return typeof value === 'object' && value !== null && 'status' in value && 'headers' in value;
}

function isSilent({ status, headers }: Response): boolean {
  return isNoAnswer(status, (name) => headers.get(name));
}

/** An error and its causes; of aggregated ones the first. */
function chainOf(error: Error): readonly Error[] {
  const chain: Error[] = [];
  for (let at: unknown = error; at instanceof Error && chain.length < 6; at = nextOf(at)) chain.push(at);
  return chain;
}

function nextOf(error: Error): unknown {
  return error instanceof AggregateError ? (error.errors as readonly unknown[])[0] : error.cause;
}

/**
 * A sentence for the trace: the library's message, its cause and the provider's `error`. Contains no tokens.
 */
function detailOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return `${error.error}${error.error_description === undefined ? '' : `: ${error.error_description}`}`.slice(
      0,
      200,
    );
  if (!(error instanceof Error)) return 'unknown';
  const last = chainOf(error).findLast((each) => each.message !== '');
  const told = last === undefined || last === error ? error.message : `${error.message}: ${last.message}`;
  return told.slice(0, 200);
}
