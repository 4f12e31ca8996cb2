import { firstValue } from '../../http/fields.ts';
import { isNoAnswer } from '../../http/bodyless.ts';
import { type Conversation, fetching } from '../conversation.ts';
import type { LoginTokens } from '../identity.ts';
import type { LoginRefusal } from '../provider.ts';
import { jsonOf, tooSlow, unavailable, untrusted } from './api.ts';

/** The app at the provider and its token endpoint. */
export interface TokenApp {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokenUrl: string;
}

/** When a request for tokens begins, and how long it may take; 0 if the time of the login is over. */
interface Timing {
  readonly nowMs: number;
  readonly timeoutMs: number;
}

/** Errors that reject the code or the refresh token (RFC 6749 §5.2; one is specific to GitHub). */
const DENIALS: ReadonlySet<string> = new Set([
  'invalid_grant',
  'access_denied',
  'bad_verification_code',
  'bad_refresh_token',
]);

/** Requests tokens (RFC 6749 §4.1.3, §6); concurrent requests with the same `share` become one. */
export function* requestTokens(
  { clientId, clientSecret, tokenUrl }: TokenApp,
  parameters: Readonly<Record<string, string>>,
  before: LoginTokens | null,
  { nowMs, timeoutMs }: Timing,
  share?: string,
): Conversation<LoginTokens | LoginRefusal> {
  const form = new URLSearchParams({ ...parameters, client_id: clientId, client_secret: clientSecret });
  if (timeoutMs === 0) return tooSlow();
  const answer = yield* fetching({
    timeoutMs,
    method: 'POST',
    url: tokenUrl,
    headers: ['accept', 'application/json', 'content-type', 'application/x-www-form-urlencoded'],
    body: new TextEncoder().encode(form.toString()),
    ...(share === undefined ? {} : { share }),
  });
  if ('failure' in answer) return unavailable(`token endpoint: ${answer.failure}: ${answer.detail}`);
  const value = jsonOf(answer);
  const said =
    typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const error = said['error'];
  // GitHub reports errors with status 200.
  if (error !== undefined || answer.status !== 200) {
    const isSilent = isNoAnswer(answer.status, (name) => firstValue(answer.headers, name));
    return refusalOf(answer.status, error, isSilent);
  }
  const { access_token: access, token_type: type, refresh_token: refresh, expires_in: expiresIn } = said;
  if (typeof access !== 'string' || access === '') return untrusted('it contains no access token');
  if (type !== undefined && (typeof type !== 'string' || type.toLowerCase() !== 'bearer'))
    return untrusted('its token is of an unsupported type');
  const seconds = Number(expiresIn);
  return {
    access,
    refresh: typeof refresh === 'string' && refresh !== '' ? refresh : (before?.refresh ?? null),
    id: null,
    expiresMs: expiresIn !== undefined && seconds > 0 ? nowMs + seconds * 1_000 : null,
  };
}

function refusalOf(status: number, error: unknown, isSilent: boolean): LoginRefusal {
  const named = typeof error === 'string' ? error.slice(0, 100) : '';
  if (DENIALS.has(named)) {
    return {
      refused: 'denied',
      message: 'The identity provider refused the login.',
      detail: { error: named },
    };
  }
  if (isSilent) return unavailable(`token endpoint: status ${status}`);
  const detail = { status: String(status), ...(named === '' ? {} : { error: named }) };
  return { ...untrusted('the token endpoint returned an error'), detail };
}
