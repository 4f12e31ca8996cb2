import type { Answers } from '../../engine/questions.ts';
import { type FieldList, allValues, firstValue } from '../../http/fields.ts';
import { isNoAnswer } from '../../http/bodyless.ts';
import { type Conversation, fetching } from '../conversation.ts';
import type { LoginRefusal } from '../provider.ts';

/** Credentials and base URL for requests to the provider's API. */
export interface ApiAccess {
  readonly accessToken: string;
  readonly clientId: string;
  /** Maps a URL of the real provider to itself, or to the development provider. */
  readonly at: (url: string) => string;
  readonly userAgent: string;
  /** How long the next request may take; 0 if the time of the login is over. */
  readonly leftMs: () => number;
}

/** A JSON response of the API, with the URL of the next page. */
export interface ApiAnswer {
  readonly value: unknown;
  readonly next: string | null;
}

/** Calls the API; every failure is a refusal, never an empty result. */
export function* callApi(
  access: ApiAccess,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Conversation<ApiAnswer | LoginRefusal> {
  const fields = ['accept', headers['accept'] ?? 'application/json', 'user-agent', access.userAgent];
  fields.push('authorization', `Bearer ${access.accessToken}`);
  for (const [name, value] of Object.entries(headers)) {
    if (name !== 'accept') fields.push(name, value === 'client-id' ? access.clientId : value);
  }
  // One page load causes many requests at once. When a check is due, they share it, to stay below the
  // provider's rate limit.
  const share = `${access.at(url)} ${access.accessToken}`;
  const timeoutMs = access.leftMs();
  if (timeoutMs === 0) return tooSlow();
  const answer = yield* fetching({ url: access.at(url), headers: fields, share, timeoutMs });
  if ('failure' in answer) return unavailable(`${answer.failure}: ${answer.detail}`);
  if (isNoAnswer(answer.status, (name) => firstValue(answer.headers, name)) || isRateLimit(answer))
    return unavailable(`status ${answer.status}`);
  // The token was revoked or lacks the scope.
  if (answer.status === 401 || answer.status === 403) return gone(answer.status);
  if (answer.status !== 200) return unavailable(`status ${answer.status}`);
  const value = jsonOf(answer);
  if (value === undefined) return untrusted('it is not JSON');
  return { value, next: nextPage(answer.headers, url, access.at) };
}

/** GitHub and Google answer 403 for exceeded rate limits, sometimes indicated only in the body. */
function isRateLimit({ status, body }: Extract<Answers['fetch'], { status: number }>): boolean {
  return status === 403 && /rate ?limit/i.test(Buffer.from(body).toString('latin1'));
}

export function isApiAnswer(answer: object): answer is ApiAnswer {
  return 'value' in answer;
}

/** The value of a JSON response; undefined if the body is not JSON. */
export function jsonOf({ body }: Extract<Answers['fetch'], { status: number }>): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

/** The URL with `rel="next"` (RFC 8288); only on the same origin, because it receives the token. */
function nextPage(headers: FieldList, asked: string, at: ApiAccess['at']): string | null {
  for (const line of allValues(headers, 'link')) {
    for (const [, url, rel] of line.matchAll(/<([^<>]*)>\s*;\s*rel="?([a-z]+)"?/g)) {
      if (rel !== 'next') continue;
      const from = URL.parse(at(asked));
      const next = URL.parse(url!, from?.href);
      if (from === null || next === null || next.origin !== from.origin) return null;
      // Mapped back to the real provider's URL, because all URLs are requested by that.
      const stand = at(new URL('/', asked).href).replace(/\/$/, '');
      return next.href.startsWith(stand)
        ? new URL('/', asked).href.replace(/\/$/, '') + next.href.slice(stand.length)
        : null;
    }
  }
  return null;
}

export function unavailable(detail: string): LoginRefusal {
  return {
    refused: 'provider_failed',
    message: 'The identity provider cannot be reached. Please try again later.',
    detail: { detail: detail.slice(0, 200) },
  };
}

/** The requests of a login together took too long. */
export function tooSlow(): LoginRefusal {
  return unavailable('the provider took too long for all requests of the login');
}

export function untrusted(message: string): LoginRefusal {
  return {
    refused: 'identity_refused',
    message: `The response of the identity provider is not trustworthy: ${message}.`,
  };
}

function gone(status: number): LoginRefusal {
  return {
    refused: 'denied',
    message: 'The identity provider refused access to your identity.',
    detail: { status: String(status) },
  };
}
