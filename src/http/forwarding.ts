import { memoizeRecurring } from '../caches/recurring.ts';
import { firstValueOf } from './field_names.ts';
import { allValues, type FieldList, firstValue, hasField, listMembers } from './fields.ts';
import type { RequestHead } from './heads.ts';

/**
 * Which fields pass through an intermediary. Hop-by-hop fields belong to one connection (RFC 9110 §7.6.1),
 * and framing belongs to the writer of a message (RFC 9112 §6); neither is forwarded.
 */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether field `lower` (a lower-case name) belongs to one connection only. */
export function isHopByHop(lower: string): boolean {
  return HOP_BY_HOP.has(lower);
}

/** Whether field `lower` is about message framing, which only the writer of the message may set. */
export function isFraming(lower: string): boolean {
  return lower === 'content-length' || lower === 'transfer-encoding' || lower === 'expect';
}

/**
 * Prefixes of the fields in which the edge sends the user's identity to an upstream; clients may never send
 * them.
 */
export interface IdentityPrefixes {
  readonly auth: string;
  readonly mtls: string;
}

type Handling = 'pass' | 'drop' | 'connection' | 'forwarded_for' | 'forwarded_proto' | 'forwarded_host';

const REWRITTEN: Readonly<Record<string, Handling>> = {
  host: 'drop',
  connection: 'connection',
  'x-forwarded-for': 'forwarded_for',
  'x-forwarded-proto': 'forwarded_proto',
  'x-forwarded-host': 'forwarded_host',
};

/**
 * Fields whose values decide which others a `RequestForwarder` makes: the first names some, an empty one of the second does
 * not count. All other values are only passed on.
 */
export const DECIDING_FIELDS = ['connection', 'x-forwarded-host'] as const;

/**
 * A field name as CGI-like upstreams see it, which turn names into variables (RFC 3875 §4.1.18): in one
 * letter case, and with one character in place of all that variable names cannot contain.
 */
export function foldedName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
}

/** There are few field names, so the result for each spelling is cached, up to this number. */
const CACHED_NAMES = 2_048;

/** Converts the fields of a client's request for an upstream, into a list of its own; see `requestForwarder`. */
export type RequestForwarder = (
  headers: FieldList,
  authority: string,
  scheme: string,
  clientIp: string,
) => string[];

/**
 * Creates the function that converts a client's fields into those for an upstream, without framing: it drops
 * hop-by-hop and identity fields, appends to `X-Forwarded-For` and `-Proto`, and sets `X-Forwarded-Host`
 * unless the client did. Names that an upstream may confuse with these (`X_Forwarded_For`) are always
 * dropped, other names with an underscore unless `passesUnderscores`.
 */
export function requestForwarder(identity: IdentityPrefixes, passesUnderscores = false): RequestForwarder {
  const known = new Map<string, Handling>();
  const handlingOf = (name: string): Handling => {
    const lower = name.toLowerCase();
    const handling = handlingOfLower(lower);
    if (known.size < CACHED_NAMES && name.length <= 64) known.set(name, handling);
    return handling;
  };
  const handlingOfLower = (lower: string): Handling => {
    if (Object.hasOwn(REWRITTEN, lower)) return REWRITTEN[lower]!;
    if (isForThisHop(lower) || (!passesUnderscores && lower.includes('_'))) return 'drop';
    const folded = foldedName(lower);
    return folded !== lower && (isForThisHop(folded) || Object.hasOwn(REWRITTEN, folded)) ? 'drop' : 'pass';
  };
  const isForThisHop = (lower: string): boolean =>
    HOP_BY_HOP.has(lower) ||
    isFraming(lower) ||
    lower.startsWith(identity.auth) ||
    lower.startsWith(identity.mtls);
  return (headers, authority, scheme, clientIp) => {
    let out = ['host', authority];
    let forwardedFor = '';
    let forwardedProto = '';
    let forwardedHost = '';
    let hasConnection = false;
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at]!;
      const value = headers[at + 1]!;
      const handling = known.get(name) ?? handlingOf(name);
      if (handling === 'pass') out.push(name, value);
      else if (handling === 'connection') hasConnection = true;
      else if (handling === 'forwarded_for') forwardedFor += `${value}, `;
      else if (handling === 'forwarded_proto') forwardedProto += `${value}, `;
      else if (handling === 'forwarded_host' && forwardedHost === '') forwardedHost = value;
    }
    if (hasConnection) out = withoutNamed(out, namedByConnection(headers));
    forwardedFor += clientIp;
    forwardedProto += scheme;
    if (forwardedHost === '') forwardedHost = authority;
    out.push('x-forwarded-for', forwardedFor, 'x-forwarded-proto', forwardedProto);
    out.push('x-forwarded-host', forwardedHost);
    return out;
  };
}

function withoutNamed(fields: string[], named: ReadonlySet<string> | null): string[] {
  if (named === null) return fields;
  return fields.filter((_, at) => !named.has(fields[at & ~1]!.toLowerCase()));
}

/** A client's fields without identity fields and lookalikes; the same list when there are none. */
export function withoutIdentity(fields: FieldList, prefixes: IdentityPrefixes): FieldList {
  let kept: string[] | null = null;
  for (let at = 0; at < fields.length; at += 2) {
    if (isIdentity(fields[at]!, prefixes)) kept ??= fields.slice(0, at);
    else if (kept !== null) kept.push(fields[at]!, fields[at + 1]!);
  }
  return kept ?? fields;
}

function isIdentity(name: string, { auth, mtls }: IdentityPrefixes): boolean {
  // Most names begin with another letter; `| 32` folds its case.
  const initial = name.charCodeAt(0) | 32;
  if (initial !== auth.charCodeAt(0) && initial !== mtls.charCodeAt(0)) return false;
  const folded = foldedName(name);
  return folded.startsWith(auth) || folded.startsWith(mtls);
}

const lowerNames = new Map<string, string>();

/** A field name in lower case; common ones are cached. */
function lowered(name: string): string {
  const before = lowerNames.get(name);
  if (before !== undefined) return before;
  const lower = name.toLowerCase();
  if (lowerNames.size < CACHED_NAMES && name.length <= 64) lowerNames.set(name, lower);
  return lower;
}

export type ResponseForwarder = (headers: FieldList) => FieldList;

/**
 * Creates the function that converts the fields of an upstream's response for a client. `Content-Length`
 * stays, because it also describes HEAD and 304 responses. `errorCodeField` is dropped: only the edge may set
 * it.
 */
export function responseForwarder(errorCodeField: string): ResponseForwarder {
  return memoizeRecurring((headers) => forwardedResponse(headers, errorCodeField));
}

export function forwardedResponse(headers: FieldList, errorCodeField: string): FieldList {
  const named = namedByConnection(headers);
  let out: string[] | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const lower = lowered(headers[at]!);
    const drop = HOP_BY_HOP.has(lower) || lower === errorCodeField || (named !== null && named.has(lower));
    if (drop) out ??= headers.slice(0, at);
    else if (out !== null) out.push(headers[at]!, headers[at + 1]!);
  }
  return out ?? headers;
}

/** Fields that `Connection` names as hop-by-hop (RFC 9110 §7.6.1); null when there are none. */
function namedByConnection(headers: FieldList): ReadonlySet<string> | null {
  const value = firstValue(headers, 'connection');
  if (value === undefined || value === 'keep-alive' || value === 'close') {
    if (value === undefined || !moreThanOnce(headers, 'connection')) return null;
  }
  // `Connection: host` or `content-length` must not remove what the message needs to keep its meaning.
  const named = listMembers(headers, 'connection').filter((name) => name !== 'host' && !isFraming(name));
  return named.length > 0 ? new Set(named) : null;
}

function moreThanOnce(headers: FieldList, lower: string): boolean {
  let seen = 0;
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === lower) seen++;
  return seen > 1;
}

const wantedUpgrade = firstValueOf('upgrade');

/**
 * The protocol that a request wants to upgrade to (`Upgrade` with `Connection: upgrade`, RFC 9110 §7.8), or
 * null.
 */
export function upgradeOf(headers: FieldList): string | null {
  const protocol = wantedUpgrade(headers);
  if (protocol === undefined || !hasField(headers, 'connection')) return null;
  return listMembers(headers, 'connection').includes('upgrade') ? protocol.toLowerCase() : null;
}

/**
 * Whether a request has the form of one for which a connection may switch protocols: in HTTP/1.0 `Upgrade` is ignored
 * (RFC 9110 §7.8), and bytes of content would be taken for the new protocol.
 */
export function maySwitch(method: string, version: RequestHead['version'], headers: FieldList): boolean {
  return (
    method === 'GET' &&
    version !== '1.0' &&
    !hasField(headers, 'expect') &&
    !hasField(headers, 'transfer-encoding') &&
    !/[^0]/.test(firstValue(headers, 'content-length') ?? '')
  );
}

/** The fields of an interim response that a client gets: others would bypass filters that edit response fields. */
export function interimFields(fields: FieldList): FieldList {
  return allValues(fields, 'link').flatMap((value) => ['link', value]);
}
