import { isRecurring, markRecurring, memoizeRecurring } from '../caches/recurring.ts';
import { isLength } from '../http/content_length.ts';
import type { RawHead, Refused } from '../engine/drivers/exchange_port.ts';
import type { RefusalCode } from '../engine/refusals.ts';
import {
  allValues,
  type FieldList,
  firstValue,
  hasField,
  isFieldName,
  isFieldValue,
  listMembers,
} from '../http/fields.ts';
import { isHopByHop } from '../http/forwarding.ts';
import { isMethod } from '../http/methods.ts';
import type { Decoded } from './hpack/decoder.ts';

/** An HTTP/2 request head converted to HTTP/1.1 terms, which the engine uses. */
export interface Http2Head {
  readonly head: RawHead;
  /** The declared length; null without one. */
  readonly lengthBytes: number | null;
  readonly expectsContinue: boolean;
  readonly takesTrailers: boolean;
  /** It requests another protocol on its stream (RFC 8441). */
  readonly isTunnel: boolean;
}

export interface Http2Refusal extends Omit<Refused, 'connection'> {
  /** RFC 9113 §8.1.1: the stream is reset with PROTOCOL_ERROR after the response. */
  readonly isMalformed: boolean;
}

export interface HeadLimits {
  /** Bytes of names and values, plus 32 for each line (RFC 9113 §6.5.2). */
  readonly headBytes: number;
  readonly fields: number;
  readonly targetBytes: number;
}

/** The parts of a head, and what is wrong with it whatever its connection is; '' if nothing is. */
interface Parts {
  readonly pseudo: Readonly<Record<string, string>>;
  /** With `host` from :authority, and one `cookie`. */
  readonly headers: FieldList;
  readonly malformed: string;
}

const PSEUDO: ReadonlySet<string> = new Set([':method', ':scheme', ':authority', ':path', ':protocol']);
const VISIBLE_ONLY = /^[!-~]*$/;
const SURROUNDED = /^[ \t]|[ \t]$/;

/** Names that passed the check, up to this number. */
const CACHED_NAMES = 2_048;
const checkedNames = new Set<string>();

/** RFC 9113 §8.2.1: a token in lower case. */
function isLowerName(name: string): boolean {
  if (checkedNames.has(name)) return true;
  if (!isFieldName(name) || name !== name.toLowerCase()) return false;
  if (checkedNames.size < CACHED_NAMES && name.length <= 64) checkedNames.add(name);
  return true;
}

function isConnectionField(name: string): boolean {
  return name !== 'te' && name !== 'trailer' && isHopByHop(name) && !name.startsWith('proxy-auth');
}

/** What RFC 9113 §8.2.1 forbids in a field; '' if nothing. */
function fieldProblem(name: string, value: string): string {
  if (!isLowerName(name)) return 'a field name is not a token in lower case';
  if (!isFieldValue(value)) return `${name} has a forbidden character`;
  if (SURROUNDED.test(value)) return `${name} has white space around its value`;
  // RFC 9113 §8.2.2
  return isConnectionField(name) ? `${name} is not allowed in HTTP/2` : '';
}

const partsOf: (decoded: Decoded) => Parts = memoizeRecurring((decoded) => {
  const { fields } = decoded;
  const pseudo: Record<string, string> = {};
  const headers: string[] = [];
  const cookies: string[] = [];
  let malformed = '';
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!;
    const value = fields[at + 1]!;
    const isPseudo = name.startsWith(':');
    const problem = isPseudo
      ? pseudoProblem(name, value, pseudo, headers.length + cookies.length > 0)
      : fieldProblem(name, value);
    // The event of a refused request has only what is valid.
    if (problem !== '') malformed ||= problem;
    else if (isPseudo) pseudo[name] = value;
    else if (name === 'cookie') cookies.push(value);
    else headers.push(name, value);
  }
  // RFC 9113 §8.2.3: cookie crumbs are joined for recipients of other HTTP versions.
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  const authority = pseudo[':authority'];
  const host = firstValue(headers, 'host');
  if (host === undefined && authority !== undefined) headers.unshift('host', authority);
  // RFC 9113 §8.3.1: Host must be the same.
  else if (host !== undefined && authority !== undefined && host.toLowerCase() !== authority.toLowerCase())
    malformed ||= 'Host differs from :authority';
  // The list of a cut head ends somewhere.
  if (!decoded.isCut) malformed ||= missingPseudo(pseudo);
  if (isRecurring(decoded)) markRecurring(headers);
  return { pseudo, headers, malformed };
});

/** RFC 9113 §8.3 */
function pseudoProblem(
  name: string,
  value: string,
  before: Readonly<Record<string, string>>,
  isLate: boolean,
): string {
  if (!PSEUDO.has(name)) return 'there is an unknown pseudo-header';
  if (isLate) return `${name} follows a field`;
  if (before[name] !== undefined) return `there is more than one ${name}`;
  return isFieldValue(value) ? '' : `${name} has a forbidden character`;
}

function missingPseudo(pseudo: Readonly<Record<string, string>>): string {
  const needed =
    pseudo[':method'] === 'CONNECT' && pseudo[':protocol'] === undefined ? [] : [':scheme', ':path'];
  const missing = [':method', ...needed].find((name) => pseudo[name] === undefined);
  return missing === undefined ? '' : `there is no ${missing}`;
}

/**
 * Reads a head; what two parsers could read differently is refused. `hasEnded`: no content follows. `key` replaces the
 * `Sec-WebSocket-Key`, which HTTP/2 does not have.
 */
export function readHttp2Head(
  decoded: Decoded,
  scheme: 'http' | 'https',
  hasEnded: boolean,
  limits: HeadLimits,
  key: () => string,
): Http2Head | Http2Refusal {
  const { pseudo, headers, malformed } = partsOf(decoded);
  const method = pseudo[':method'] ?? '';
  const target = pseudo[':path'] ?? '';
  const head = { method, target, version: '2.0', scheme, headers } as const;
  const refuse = (detail: string, code: RefusalCode = 'malformed', isMalformed = code === 'malformed') =>
    ({ code, detail, head, isMalformed }) satisfies Http2Refusal;
  if (target.length > limits.targetBytes)
    return refuse('the request target is longer than the limit', 'target_too_long');
  if (decoded.isCut || decoded.listBytes > limits.headBytes || decoded.fields.length / 2 > limits.fields)
    return refuse('the request head is longer than the limit', 'head_too_large');
  if (malformed !== '') return refuse(malformed);
  // The same list of methods, in the same letter case, as for HTTP/1.1.
  if (!isMethod(method)) return refuse('the method is not supported', 'method');
  if (!VISIBLE_ONLY.test(target)) return refuse(':path has a character that must be percent-encoded');
  // A second Host is refused, even with the same value.
  if (allValues(headers, 'host').length > 1) return refuse('there is more than one Host field');
  if (hasField(headers, 'te') && !listMembers(headers, 'te').every((each) => each === 'trailers'))
    return refuse('te has a value other than trailers');
  const protocol = pseudo[':protocol'];
  const isConnect = method === 'CONNECT' && protocol === undefined;
  if (isConnect && (pseudo[':scheme'] !== undefined || pseudo[':path'] !== undefined))
    return refuse('CONNECT has a :scheme or :path');
  if (!isConnect && pseudo[':scheme'] !== scheme) return refuse(`:scheme is not ${scheme}`);
  // The asterisk form is about the server as a whole; one place refuses it for all versions (RFC 9113 §8.3.1).
  if (!isConnect && !target.startsWith('/') && target !== '*') return refuse(':path is not an absolute path');
  const expected = allValues(headers, 'expect');
  const expects = expected.length === 0 ? undefined : expected.join(',');
  if (expects !== undefined && expects.toLowerCase() !== '100-continue')
    return refuse('the expectation is not supported', 'expectation');
  if (protocol !== undefined) return tunnelHead(head, protocol, key, refuse);
  const lengths = allValues(headers, 'content-length');
  if (lengths.length > 1 || !lengths.every(isLength)) return refuse('content-length is not a number');
  const lengthBytes = lengths.length === 0 ? null : Number(lengths[0]);
  if (hasEnded && lengthBytes !== null && lengthBytes > 0)
    return refuse('the content is shorter than its declared length');
  return {
    head,
    lengthBytes: hasEnded ? 0 : lengthBytes,
    expectsContinue: expects !== undefined && !hasEnded,
    takesTrailers: hasField(headers, 'te'),
    isTunnel: false,
  };
}

/** RFC 8441 §5: an extended CONNECT is the upgrade of HTTP/2. */
function tunnelHead(
  head: RawHead,
  protocol: string,
  key: () => string,
  refuse: (detail: string, code?: RefusalCode) => Http2Refusal,
): Http2Head | Http2Refusal {
  if (head.method !== 'CONNECT') return refuse(':protocol is only allowed with CONNECT');
  if (protocol.toLowerCase() !== 'websocket')
    return refuse('the protocol is not supported', 'transfer_coding');
  const headers = [...head.headers, 'connection', 'upgrade', 'upgrade', 'websocket'];
  if (!hasField(headers, 'sec-websocket-key')) headers.push('sec-websocket-key', key());
  return {
    head: { ...head, method: 'GET', headers },
    lengthBytes: 0,
    expectsContinue: false,
    takesTrailers: false,
    isTunnel: true,
  };
}

/** The fields of a trailer section (RFC 9113 §8.1); null when it is malformed. */
export function readTrailers({ fields, isCut }: Decoded, maxBytes: number): FieldList | null {
  let bytes = 0;
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!;
    const value = fields[at + 1]!;
    bytes += name.length + value.length;
    if (name.startsWith(':') || fieldProblem(name, value) !== '') return null;
  }
  return isCut || bytes > maxBytes ? null : fields;
}
