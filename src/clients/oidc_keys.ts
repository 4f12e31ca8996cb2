import type * as openid from 'openid-client';
import type { OidcFetch } from './oidc_fetch.ts';

type Keys = openid.ExportedJWKSCache;
type Key = Keys['jwks']['keys'][number];

/** Maximum number of keys that are tried for one token. */
const TRIED_LIMIT = 8;

/**
 * Repeats a check of tokens with each key, if it failed because several keys fit the header of the ID token. Ids of keys
 * need not be unique (RFC 7517 §4.5), and a token need not name its key; the library refuses such a token. Any other
 * failure stays.
 */
export async function withEachKey<T>(failure: unknown, check: (keys: Keys) => Promise<T>): Promise<T> {
  let last = failure;
  for (const key of fittingKeys(failure).slice(0, TRIED_LIMIT)) {
    try {
      // One at a time: most often the first one fits.
      // oxlint-disable-next-line no-await-in-loop
      return await check({ jwks: { keys: [key] }, uat: Math.floor(Date.now() / 1_000) });
    } catch (error) {
      last = error;
      if (!isWrongSignature(error)) break;
    }
  }
  throw last;
}

/** The keys between which the library could not decide; empty after any other failure. */
function fittingKeys(failure: unknown): readonly Key[] {
  for (let at = failure; at instanceof Error; at = at.cause) {
    const cause = at.cause as { readonly candidates?: readonly Key[] } | undefined;
    if (Array.isArray(cause?.candidates)) return cause.candidates;
  }
  return [];
}

function isWrongSignature(error: unknown): boolean {
  return error instanceof Error && /signature verification failed/.test(chainText(error));
}

function chainText(error: Error): string {
  return error.cause instanceof Error ? `${error.message} ${chainText(error.cause)}` : error.message;
}

/**
 * A fetch that answers a repeated POST with the first response: a code and a refresh token may be sent only once
 * (RFC 6749 §4.1.2, RFC 9700 §4.14.2).
 */
export function withRepeats(fetch: OidcFetch): OidcFetch {
  const posted = new Map<string, Promise<Response>>();
  return async (url, options) => {
    if (options.method !== 'POST') return fetch(url, options);
    const first = posted.get(url) ?? fetch(url, options);
    posted.set(url, first);
    return (await first).clone();
  };
}
