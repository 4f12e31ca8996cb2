import { parseAuthority } from '../../http/host.ts';
import { parseTarget } from '../../http/target.ts';
import { type Pattern, TOO_COSTLY } from '../../regex/pattern.ts';
import { TOO_LONG, replaceMatches } from '../find_replace/algorithm.ts';

/** The parts of a request URL; a `RequestHead` has them. */
export interface UrlParts {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  /** Without the question mark; undefined if there is none. */
  readonly query: string | undefined;
}

/** A URL after rewriting. */
export interface RewrittenUrl {
  readonly url: string;
  /** The matched texts; the whole URL if there is no pattern. */
  readonly matches: readonly string[];
}

/** Why a text is not a valid request URL, as the predicate of a sentence. */
export interface UrlProblem {
  readonly problem: string;
}

/** Maximum length of a rewritten URL, in UTF-16 units. */
const URL_LIMIT_UNITS = 65_536;

/** The whole URL to which patterns are applied: scheme, authority, path and query. */
export function wholeUrl({ scheme, authority, path, query }: UrlParts): string {
  return `${scheme}://${authority}${path}${query === undefined ? '' : `?${query}`}`;
}

/**
 * Replaces every match of the pattern in the URL by `to` with its groups. Without a pattern, `to` replaces
 * the whole URL. The result may not be a valid URL.
 */
export function rewriteUrl(url: string, pattern: Pattern | null, to: string): RewrittenUrl | UrlProblem {
  if (pattern === null) return { url: to, matches: [url] };
  const replaced = replaceMatches(url, { from: pattern, to }, URL_LIMIT_UNITS);
  if (replaced === TOO_LONG) return { problem: `is longer than ${URL_LIMIT_UNITS} characters` };
  if (replaced === TOO_COSTLY)
    return { problem: 'takes too many steps: the pattern scans the URL again and again' };
  return { url: replaced.text, matches: replaced.matches };
}

// RFC 3986 §2: characters that are allowed unencoded in a URI.
const NOT_OF_URIS = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/gu;

/** Percent-encodes as UTF-8 all characters that are not allowed in a URI; existing encodings are kept. */
export function encodeUrl(text: string): string {
  return text.toWellFormed().replaceAll(NOT_OF_URIS, (character) => encodeURIComponent(character));
}

const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+\-.]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?/;
/** A path, possibly after the scheme: the pattern `/.*` matches from the first slash on and leaves the scheme. */
const ORIGIN_FORM = /^(?:https?:)?(\/(?!\/)[^?#]*)(?:\?([^#]*))?/i;

/**
 * Parses the rewritten URL for the upstream and normalizes its path (`http/target.ts`). It is absolute, or a
 * path and query of the same host. A fragment is dropped (RFC 9110 §7.1).
 */
export function readRewritten(text: string, before: UrlParts): UrlParts | UrlProblem {
  const encoded = encodeUrl(text);
  const origin = ORIGIN_FORM.exec(encoded);
  if (origin !== null) return withTarget(before.scheme, before.authority, origin[1]!, origin[2]);
  const absolute = ABSOLUTE.exec(encoded);
  if (absolute === null) return { problem: 'is not an absolute URL' };
  const scheme = absolute[1]!.toLowerCase();
  if (scheme !== 'http' && scheme !== 'https')
    return { problem: `has the scheme '${scheme}', not http or https` };
  // If a pattern replaced the authority with a path, the host is unchanged.
  const authority = absolute[2] || before.authority;
  if (authority !== before.authority && parseAuthority(authority) === null) {
    return { problem: 'has no valid host' };
  }
  return withTarget(scheme, authority, absolute[3] || '/', absolute[4]);
}

function withTarget(
  scheme: string,
  authority: string,
  path: string,
  query: string | undefined,
): UrlParts | UrlProblem {
  const target = parseTarget(query === undefined ? path : `${path}?${query}`);
  if ('problem' in target) return { problem: `is not a valid request URL: ${target.problem}` };
  return { scheme, authority, path: target.path, query: target.query };
}

/** Narrows the results of `rewriteUrl` and `readRewritten`. */
export function isUrlProblem(answer: RewrittenUrl | UrlParts | UrlProblem): answer is UrlProblem {
  return 'problem' in answer;
}
