import { type FieldList, firstValue, hasField, listMembers } from './fields.ts';

/**
 * What passes through an intermediary and what does not. Hop-by-hop fields belong to one connection
 * (RFC 9110 §7.6.1), framing belongs to whoever writes the message (RFC 9112 §6): neither is ever forwarded.
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

/** Whether field `lower` says where a message ends or how it is sent, which only its writer may say. */
export function isFraming(lower: string): boolean {
  return lower === 'content-length' || lower === 'transfer-encoding' || lower === 'expect';
}

// The lengths of all names that `forwardedRequest` drops or rewrites; any other length passes at once.
const SPECIAL_LENGTHS = new Set(
  [
    ...HOP_BY_HOP,
    'content-length',
    'expect',
    'host',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
  ].map((name) => name.length),
);

const REWRITTEN: ReadonlySet<string> = new Set([
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]);

/** Field-name prefixes by which the edge tells an upstream who the user is; a client may never send them. */
export interface IdentityPrefixes {
  readonly auth: string;
  readonly mtls: string;
}

/**
 * The fields of a client's request as an upstream gets them, without framing: hop-by-hop and identity fields
 * dropped, `X-Forwarded-For` and `-Proto` appended to, `X-Forwarded-Host` the client's own or the host asked for.
 */
export function forwardedRequest(
  headers: FieldList,
  authority: string,
  scheme: string,
  clientIp: string,
  identity: IdentityPrefixes,
): string[] {
  const named = namedByConnection(headers);
  const out: string[] = ['host', authority];
  let forwardedFor = '';
  let forwardedProto = '';
  let forwardedHost = '';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    const value = headers[at + 1]!;
    const lower = name.toLowerCase();
    if (SPECIAL_LENGTHS.has(lower.length)) {
      if (REWRITTEN.has(lower)) {
        if (lower === 'x-forwarded-for') forwardedFor += `${value}, `;
        else if (lower === 'x-forwarded-proto') forwardedProto += `${value}, `;
        else if (lower === 'x-forwarded-host' && forwardedHost === '') forwardedHost = value;
        continue;
      }
      if (HOP_BY_HOP.has(lower) || isFraming(lower)) continue;
    }
    if (lower.startsWith(identity.auth) || lower.startsWith(identity.mtls)) continue;
    if (named !== null && named.includes(lower)) continue;
    out.push(name, value);
  }
  out.push(
    'x-forwarded-for',
    forwardedFor + clientIp,
    'x-forwarded-proto',
    forwardedProto + scheme,
    'x-forwarded-host',
    forwardedHost === '' ? authority : forwardedHost,
  );
  return out;
}

/** The fields of an upstream's response as a client gets them; `Content-Length` stays, it describes HEAD and 304 too. */
export function forwardedResponse(headers: FieldList, errorCodeField: string): FieldList {
  const named = namedByConnection(headers);
  let out: string[] | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const lower = headers[at]!.toLowerCase();
    const drop =
      HOP_BY_HOP.has(lower) || lower === errorCodeField || (named !== null && named.includes(lower));
    if (drop) out ??= headers.slice(0, at);
    else if (out !== null) out.push(headers[at]!, headers[at + 1]!);
  }
  return out ?? headers;
}

/** Further fields that `Connection` declares to be of this hop (RFC 9110 §7.6.1); null when it names none. */
function namedByConnection(headers: FieldList): string[] | null {
  const value = firstValue(headers, 'connection');
  if (value === undefined || value === 'keep-alive' || value === 'close') {
    if (value === undefined || !moreThanOnce(headers, 'connection')) return null;
  }
  // `Connection: host` or `content-length` must not take away what the message needs to keep its meaning.
  const named = listMembers(headers, 'connection').filter((name) => name !== 'host' && !isFraming(name));
  return named.length > 0 ? named : null;
}

function moreThanOnce(headers: FieldList, lower: string): boolean {
  let seen = 0;
  for (let at = 0; at < headers.length; at += 2) if (headers[at]!.toLowerCase() === lower) seen++;
  return seen > 1;
}

/** The protocol that a request asks to change to (`Upgrade` with `Connection: upgrade`, RFC 9110 §7.8), or null. */
export function upgradeOf(headers: FieldList): string | null {
  const protocol = firstValue(headers, 'upgrade');
  if (protocol === undefined || !hasField(headers, 'connection')) return null;
  return listMembers(headers, 'connection').includes('upgrade') ? protocol.toLowerCase() : null;
}
