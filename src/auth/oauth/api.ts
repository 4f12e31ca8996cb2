import type { Answers } from '../../engine/contract.ts';
import { type FieldList, allValues, firstValue } from '../../http/fields.ts';
import { isNoAnswer } from '../../http/bodyless.ts';
import { type Conversation, fetching } from '../conversation.ts';
import type { LoginRefusal } from '../provider.ts';

/** How the provider's API is asked: by whom, and where it is. */
export interface ApiAccess {
  readonly accessToken: string;
  readonly clientId: string;
  /** Where a URL of the real provider is to be had: itself, or the development provider's stand-in. */
  readonly at: (url: string) => string;
  readonly userAgent: string;
}

/** A response of the API, as JSON, with the URL of the next page. */
export interface ApiAnswer {
  readonly value: unknown;
  readonly next: string | null;
}

/** Asks the API; every failure is a refusal, never an empty answer. */
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
  // A page asks for many things at once: when a check is due, they share it, or the provider would limit us.
  const share = `${access.at(url)} ${access.accessToken}`;
  const answer = yield* fetching({ url: access.at(url), headers: fields, share });
  if ('failure' in answer) return unavailable(`${answer.failure}: ${answer.detail}`);
  if (isNoAnswer(answer.status, (name) => firstValue(answer.headers, name)) || isRateLimit(answer))
    return unavailable(`status ${answer.status}`);
  // The token counts no more, or never had this right.
  if (answer.status === 401 || answer.status === 403) return gone(answer.status);
  if (answer.status !== 200) return unavailable(`status ${answer.status}`);
  const value = jsonOf(answer);
  if (value === undefined) return untrusted('its answer is not JSON');
  return { value, next: nextPage(answer.headers, url, access.at) };
}

/** GitHub and Google refuse those who ask too often with 403, and may tell so in the body alone. */
function isRateLimit({ status, body }: Extract<Answers['fetch'], { status: number }>): boolean {
  return status === 403 && /rate ?limit/i.test(Buffer.from(body).toString('latin1'));
}

export function isApiAnswer(answer: object): answer is ApiAnswer {
  return 'value' in answer;
}

/** Value of a JSON response; undefined when it is none. */
export function jsonOf({ body }: Extract<Answers['fetch'], { status: number }>): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

/** RFC 8288: the page with `rel="next"`; only on the same origin, for it will be sent the token. */
function nextPage(headers: FieldList, asked: string, at: ApiAccess['at']): string | null {
  for (const line of allValues(headers, 'link')) {
    for (const [, url, rel] of line.matchAll(/<([^<>]*)>\s*;\s*rel="?([a-z]+)"?/g)) {
      if (rel !== 'next') continue;
      const from = URL.parse(at(asked));
      const next = URL.parse(url!, from?.href);
      if (from === null || next === null || next.origin !== from.origin) return null;
      // Back to the name of the real provider, as all URLs are asked by it.
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

export function untrusted(message: string): LoginRefusal {
  return {
    refused: 'identity_refused',
    message: `The answer of the provider cannot be trusted: ${message}.`,
  };
}

function gone(status: number): LoginRefusal {
  return {
    refused: 'denied',
    message: 'The identity provider has refused to say who you are.',
    detail: { status: String(status) },
  };
}
