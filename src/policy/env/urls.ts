import { parseAddress } from '../../net/address.ts';
import { INT, STRING, fieldsOf, list, map, stringWithFields } from '../../cel/types.ts';
import { type StringMap, stringMap } from '../../cel/values.ts';
import type { RequestInput } from './inputs.ts';
import { formPairs, hasWholeEscapes } from './percent.ts';

interface Parts {
  readonly raw: string;
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly rawPath: string;
  readonly query: string | undefined;
  readonly fragment: string | undefined;
}

/** A URL in its parts (RFC 3986 §3), as spelled; names and numbers are parsed on first use. */
export class UrlValue {
  readonly raw: string;
  readonly scheme: string;
  /** As written: user information, host and port. */
  readonly authority: string;
  readonly path: string;
  /** As sent, whereas `path` is canonical. */
  readonly rawPath: string;
  readonly query: string;
  readonly fragment: string;
  #params: StringMap | undefined;

  constructor(parts: Parts) {
    this.raw = parts.raw;
    this.scheme = parts.scheme;
    this.authority = parts.authority;
    this.path = parts.path;
    this.rawPath = parts.rawPath;
    this.query = parts.query ?? '';
    this.fragment = parts.fragment ?? '';
  }

  get host(): string {
    return hostAndPort(this.authority).host;
  }

  get port(): number | undefined {
    const { port } = hostAndPort(this.authority);
    return port === undefined ? undefined : Number(port);
  }

  get userPassword(): string | undefined {
    const at = this.authority.lastIndexOf('@');
    return at < 0 ? undefined : this.authority.slice(0, at);
  }

  /** From the path on, as in a request line. */
  get uri(): string {
    const hash = this.raw.indexOf('#');
    const whole = hash < 0 ? this.raw : this.raw.slice(0, hash);
    const afterScheme = whole.indexOf('://');
    if (afterScheme < 0) return whole;
    const start = whole.slice(afterScheme + 3).search(/[/?]/);
    return start < 0 ? '' : whole.slice(afterScheme + 3 + start);
  }

  get queryParams(): StringMap {
    return (this.#params ??= listsByName(formPairs(this.query)));
  }

  toJSON(): string {
    return this.raw;
  }
}

/** The URL of a request: what a browser would show for this host and path. */
export function urlOfRequest(request: RequestInput): UrlValue {
  const { scheme, authority, path, query, sentTarget } = request;
  const mark = sentTarget.indexOf('?');
  const rawPath = mark < 0 ? sentTarget : sentTarget.slice(0, mark);
  return new UrlValue({
    raw: rawUrlOf(request),
    scheme,
    authority,
    path,
    rawPath,
    query,
    fragment: undefined,
  });
}

export function rawUrlOf({ scheme, authority, path, query }: RequestInput): string {
  return query === undefined ? `${scheme}://${authority}${path}` : `${scheme}://${authority}${path}?${query}`;
}

/**
 * Parses an absolute URL with an authority (RFC 3986 §3: scheme, host, optional port, path, query, fragment).
 * Only its scheme and host are converted to lower case. Null for anything else, including relative references.
 */
export function parseUrl(text: string): UrlValue | null {
  const colon = text.indexOf('://');
  if (colon <= 0 || colon > 32) return null;
  const scheme = text.slice(0, colon).toLowerCase();
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme)) return null;
  const rest = text.slice(colon + 3);
  // oxlint-disable-next-line no-control-regex -- RFC 3986 §2 allows no controls, spaces or these
  if (/[\u0000-\u0020\u007f"<>\\^`{|}]/.test(rest) || !hasWholeEscapes(rest)) return null;
  const hash = rest.indexOf('#');
  const beforeHash = hash < 0 ? rest : rest.slice(0, hash);
  const mark = beforeHash.indexOf('?');
  const hierarchy = mark < 0 ? beforeHash : beforeHash.slice(0, mark);
  const slash = hierarchy.indexOf('/');
  const authority = slash < 0 ? hierarchy : hierarchy.slice(0, slash);
  const { host, port } = hostAndPort(authority);
  if (!isHost(host) || (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)))
    return null;
  const path = slash < 0 ? '' : hierarchy.slice(slash);
  return new UrlValue({
    raw: text,
    scheme,
    authority,
    path,
    rawPath: path,
    query: mark < 0 ? undefined : beforeHash.slice(mark + 1),
    fragment: hash < 0 ? undefined : rest.slice(hash + 1),
  });
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return host.endsWith(']') && parseAddress(host.slice(1, -1))?.family === 6;
  return /^[a-z0-9._-]+$/.test(host);
}

/** Host in lower case; the port's digits as written, undefined without a port. */
function hostAndPort(authority: string): { readonly host: string; readonly port: string | undefined } {
  const at = authority.lastIndexOf('@');
  const place = (at < 0 ? authority : authority.slice(at + 1)).toLowerCase();
  const bracket = place.startsWith('[') ? place.indexOf(']') : 0;
  const colon = bracket < 0 ? -1 : place.indexOf(':', bracket);
  if (colon < 0) return { host: place, port: undefined };
  const digits = place.slice(colon + 1);
  return { host: place.slice(0, colon), port: digits === '' ? undefined : digits };
}

/** Lists of values by name, in order of first appearance. */
function listsByName(pairs: readonly (readonly [name: string, value: string])[]): StringMap {
  const lists = stringMap() as Record<string, string[]>;
  for (const [name, value] of pairs) {
    const values = lists[name];
    if (values === undefined) lists[name] = [value];
    else values.push(value);
  }
  return lists;
}

/** Whether a text is valid as the query of a URL (RFC 3986 §3.4), with at least one name. */
export function isQueryString(text: string): boolean {
  return /^[A-Za-z0-9\-._~!$&'()*+,;=:@/?%[\]]+$/.test(text) && /[^&=]/.test(text) && hasWholeEscapes(text);
}

const urlField = fieldsOf<UrlValue>();

export const URL_TYPE = stringWithFields(
  'Url',
  {
    authority: urlField.present(
      STRING,
      'User information, host and port as written.',
      (url) => url.authority,
    ),
    host: urlField.present(STRING, 'Host in lower case, without port.', (url) => url.host),
    path: urlField.present(
      STRING,
      'Path; for a request, in the canonical form that routes match.',
      (url) => url.path,
    ),
    port: urlField.optional(INT, 'Port, if given.', (url) => url.port),
    query: urlField.present(
      STRING,
      'Query without its question mark; empty if there is none.',
      (url) => url.query,
    ),
    query_params: urlField.present(
      map(STRING, list(STRING)),
      'Values of the query by name, decoded.',
      (url) => url.queryParams,
    ),
    fragment: urlField.present(
      STRING,
      'Text after `#`; empty if there is none, and always for a request.',
      (url) => url.fragment,
    ),
    raw: urlField.present(STRING, 'The whole URL.', (url) => url.raw),
    raw_path: urlField.present(STRING, 'Path as sent.', (url) => url.rawPath),
    scheme: urlField.present(STRING, 'Scheme, such as `https`.', (url) => url.scheme),
    uri: urlField.present(STRING, 'Path and query.', (url) => url.uri),
    user_password: urlField.optional(
      STRING,
      'User information before the host, if any.',
      (url) => url.userPassword,
    ),
  },
  (url: UrlValue) => url.raw,
);

/** Whether a text is a scheme-qualified URL with a host. */
export function isUrl(text: string): boolean {
  return parseUrl(text) !== null;
}
