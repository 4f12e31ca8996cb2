import type { ReadBuffer } from '../io/read_buffer.ts';
import type { FieldList } from '../http/fields.ts';
import { FieldReader } from './header_cache.ts';
import { CR, LF, SP, TOKEN, VISIBLE } from './bytes.ts';
import { faultIn, hasEnd, MORE, REFUSED, section } from './fields.ts';
import { CHUNKED, framingOf } from '../http/framing.ts';
import type { WireLimits } from '../http/message_limits.ts';
import { type HeadFields, hasMember, isKept } from './message.ts';
import { isMethod, LONGEST_METHOD } from '../http/methods.ts';
import { type Problem, problem } from '../http/message_problem.ts';
import { maySwitch, upgradeOf } from '../http/forwarding.ts';

/** A request head as received, and what it says about its message. */
export interface WireRequest {
  readonly method: string;
  /** Exactly as sent. */
  readonly target: string;
  readonly version: '1.0' | '1.1';
  readonly headers: FieldList;
  /** Bytes of content; 0 for none, null for chunked. */
  readonly lengthBytes: number | null;
  /** Whether another request may follow on the connection (RFC 9112 §9.3). */
  readonly keepAlive: boolean;
  /** Whether the client waits for 100 before it sends content (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
  /** Whether the client accepts trailers and declares `TE` as hop-by-hop (RFC 9110 §10.1.4). */
  readonly takesTrailers: boolean;
  /** Whether it requests an upgrade: `Upgrade`, and `Connection: upgrade`. */
  readonly asksUpgrade: boolean;
}

/** The parts of a refused head that are known for certain. */
export type PartialRequest = Partial<Pick<WireRequest, 'method' | 'target' | 'version' | 'headers'>>;

const NOTHING: PartialRequest = {};

export const HEAD = 1;

/** The first byte of a TLS connection: the type of its first record (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

const TOO_LARGE = problem('head_too_large', 'the request head is longer than the limit');
const TOO_LONG = problem('target_too_long', 'the request target is longer than the limit');
const NO_REQUEST = problem('malformed', 'this is not a request line');
const TLS = problem('malformed', 'this is the start of a TLS handshake, and the port takes plain HTTP');
const BAD_TARGET = problem('malformed', 'the request target has a character that must be percent-encoded');
const NO_TARGET = problem('malformed', 'the request target has an unknown form');
const UNKNOWN_METHOD = problem('method', 'the method is not supported');
const OLD = problem('version', 'HTTP/0.9 is not supported');
const HTTP_2 = problem('version', 'HTTP/2 is not supported on this connection');
const BAD_VERSION = problem('malformed', 'the version is not an HTTP/1 version');
const HOSTS = problem('malformed', 'there is more than one Host field');
const TRAILERS = /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/;
const EXPECTS = problem('expectation', 'the expectation is not supported'); // RFC 9110 §10.1.1

/**
 * Reads one request head after the other. It stores no bytes: the caller passes all unread bytes of a
 * connection, and more each time the result is `MORE`. However the bytes are split, each is scanned a bounded
 * number of times.
 */
export class RequestReader {
  /** The last head, after `HEAD`. */
  head: WireRequest | null = null;
  /** Position after the last head. */
  end = 0;
  /** Why it was refused, after `REFUSED`, and what was known until then. */
  problem: Problem = NO_REQUEST;
  partial: PartialRequest = NOTHING;
  readonly #limits: WireLimits;
  /** Scanned bytes of an unfinished head; 0 at the start of a head. */
  #seen = 0;
  readonly #fields: FieldReader;

  constructor(limits: WireLimits) {
    this.#limits = limits;
    this.#fields = new FieldReader(limits.fields);
  }

  /** Returns the last head and releases it. */
  takeHead(): WireRequest {
    const head = this.head!;
    this.head = null;
    return head;
  }

  /** Whether a head has begun and is incomplete. */
  get isWithin(): boolean {
    return this.#seen > 0;
  }

  /** Reads `bytes[from..to)`; `from` is the start of the head. Returns `HEAD`, `MORE` or `REFUSED`. */
  read(bytes: Buffer, from: number, to: number): number {
    let start = from;
    if (bytes[from] === CR) {
      // RFC 9112 §2.2: one empty line before a request is ignored.
      if (to - from === 1) return MORE;
      if (bytes[from + 1] === LF) start = from + 2;
    }
    const { headBytes } = this.#limits;
    if (this.#seen > 0 && !hasEnd(bytes, Math.max(start, from + this.#seen - 3), to)) {
      const fault = faultIn(bytes, from + this.#seen, to, from);
      if (fault !== null) return this.#refuse(fault, {});
      this.#seen = to - from;
      return to - from > headBytes ? this.#refuse(TOO_LARGE, {}) : MORE;
    }
    const result = start < to ? this.#parse(bytes, start, to) : MORE;
    if (result === MORE) {
      if (start === to) return MORE;
      const fault = this.#seen === 0 ? faultIn(bytes, from, to, from) : null;
      if (fault !== null) return this.#refuse(fault, {});
      this.#seen = to - from;
      return to - from > headBytes ? this.#refuse(TOO_LARGE, {}) : MORE;
    }
    this.#seen = 0;
    if (result === HEAD && this.end - from > headBytes) return this.#refuse(TOO_LARGE, {});
    return result;
  }

  #parse(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to && TOKEN[bytes[at]!] === 1) at++;
    if (at >= to) return at - from > LONGEST_METHOD ? this.#refuse(NO_REQUEST, {}) : MORE;
    if (bytes[at] !== SP || at === from || at - from > LONGEST_METHOD)
      return this.#refuse(bytes[from] === TLS_HANDSHAKE ? TLS : NO_REQUEST, {});
    const methodEnd = at++;
    const targetFrom = at;
    while (at < to && VISIBLE[bytes[at]!] === 1) at++;
    const { targetBytes } = this.#limits;
    if (at - targetFrom > targetBytes) {
      return this.#refuse(TOO_LONG, { method: bytes.toString('latin1', from, methodEnd) });
    }
    if (at >= to) return MORE;
    const targetEnd = at;
    if (bytes[at] !== SP || at === targetFrom)
      return this.#refuse(faultOfLine(bytes, targetFrom, at, to), {});
    const versionFrom = at + 1;
    if (to < versionFrom + 10)
      return faultyVersion(bytes, versionFrom, to) ? this.#refuseVersion(bytes, from, versionFrom, to) : MORE;
    const version = versionAt(bytes, versionFrom);
    const method = methodAt(bytes, from, methodEnd);
    if (version === null)
      return beginsPreface(bytes, from, to) ? MORE : this.#refuseVersion(bytes, from, versionFrom, to);
    const target = bytes.toString('latin1', targetFrom, targetEnd);
    if (!isMethod(method)) return this.#refuse(UNKNOWN_METHOD, { method, target, version });
    if ((method === 'CONNECT' || bytes[targetFrom] !== 0x2f) && !isTarget(method, target))
      return this.#refuse(NO_TARGET, { method, target, version });
    const fieldsFrom = versionFrom + 10;
    const fields = this.#fields.read(bytes, fieldsFrom, to);
    if (fields === MORE) return MORE;
    if (fields === REFUSED) return this.#refuse(section.problem, { method, target, version });
    this.end = this.#fields.end;
    return this.#conclude(method, target, version, fields);
  }

  #conclude(method: string, target: string, version: '1.0' | '1.1', fields: HeadFields): number {
    const known = { method, target, version, headers: fields.list };
    if (fields.hosts > 1) return this.#refuse(HOSTS, known);
    const length = framingOf(fields, version, 0);
    if (typeof length !== 'number') return this.#refuse(length, known);
    const { expect, connection } = fields;
    if (expect !== null && expect !== '100-continue') return this.#refuse(EXPECTS, known);
    this.head = {
      method,
      target,
      version,
      headers: fields.list,
      lengthBytes: length === CHUNKED ? null : length,
      keepAlive: isKept(version, connection) && method !== 'CONNECT',
      // RFC 9110 §10.1.1: an expectation is ignored in HTTP/1.0, and when there is no content.
      expectsContinue: expect !== null && version === '1.1' && length !== 0,
      takesTrailers:
        fields.te !== '' && version === '1.1' && hasMember(connection, 'te') && TRAILERS.test(fields.te),
      asksUpgrade: fields.hasUpgrade && hasMember(connection, 'upgrade'),
    };
    return HEAD;
  }

  #refuseVersion(bytes: Buffer, from: number, versionFrom: number, to: number): number {
    const text = bytes.toString('latin1', versionFrom, Math.min(to, versionFrom + 10));
    // The preface of HTTP/2 (RFC 9113 §3.4) has no fields, so it is recognised by its version.
    if (/^HTTP\/2\.0\r?$/.test(text.trimEnd())) return this.#refuse(HTTP_2, {});
    if (/^HTTP\/0\.9\r?$/.test(text.trimEnd())) return this.#refuse(OLD, {});
    const isPreface = bytes.toString('latin1', from, versionFrom) === 'PRI * ';
    return this.#refuse(isPreface ? HTTP_2 : BAD_VERSION, {});
  }

  #refuse(why: Problem, known: PartialRequest): number {
    this.#seen = 0;
    this.problem = why;
    this.partial = known;
    return REFUSED;
  }
}

/** Almost all requests are GET or POST; other methods are decoded from their bytes. */
function methodAt(bytes: Buffer, from: number, to: number): string {
  const length = to - from;
  if (length === 3 && bytes[from] === 71 && bytes[from + 1] === 69 && bytes[from + 2] === 84) return 'GET';
  if (
    length === 4 &&
    bytes[from] === 80 &&
    bytes[from + 1] === 79 &&
    bytes[from + 2] === 83 &&
    bytes[from + 3] === 84
  ) {
    return 'POST';
  }
  return bytes.toString('latin1', from, to);
}

const ABSOLUTE = /^[A-Za-z]+:\/\/[A-Za-z0-9._~:[\]@%!$&'()*+,;=-]+(?:[/?][!-~]*)?$/;
const AUTHORITY = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/;

/** Target forms that are not a path: absolute, authority and asterisk (RFC 9112 §3.2). */
function isTarget(method: string, target: string): boolean {
  if (method === 'CONNECT') return AUTHORITY.test(target);
  return target === '*' || ABSOLUTE.test(target);
}

const PREFIX = [0x48, 0x54, 0x54, 0x50, 0x2f, 0x31, 0x2e];

/** `HTTP/1.x` and CRLF; null for anything else. */
function versionAt(bytes: Buffer, at: number): '1.0' | '1.1' | null {
  for (let index = 0; index < 7; index++) if (bytes[at + index] !== PREFIX[index]) return null;
  if (bytes[at + 8] !== CR || bytes[at + 9] !== LF) return null;
  if (bytes[at + 7] === 0x31) return '1.1';
  return bytes[at + 7] === 0x30 ? '1.0' : null;
}

/** Whether too few bytes for a version can no longer become one. */
function faultyVersion(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === LF) return true;
  return false;
}

function faultOfLine(bytes: Buffer, targetFrom: number, at: number, to: number): Problem {
  // `GET /` and the end of the line: an HTTP/0.9 request.
  if (bytes[targetFrom] === 0x2f && bytes[at] === CR && (at + 1 >= to || bytes[at + 1] === LF)) return OLD;
  return bytes[at] === CR || bytes[at] === LF ? NO_REQUEST : BAD_TARGET;
}

/** Whether an upgrade request may be granted; otherwise it is served as a normal request. */
export function mayUpgrade(head: WireRequest): boolean {
  if (!head.asksUpgrade || head.lengthBytes !== 0 || !maySwitch(head.method, head.version, head.headers))
    return false;
  const protocol = upgradeOf(head.headers);
  return (
    protocol !== null &&
    // Another HTTP version cannot be asked of the upstream, and TLS is not offered inside a connection (RFC
    // 9110 §7.8 allows servers to decline).
    !/^(?:h2c|http|tls)\b|,/.test(protocol)
  );
}

/** The first line of the preface; the HTTP/1.1 parser refuses it as a request with an unsupported version. */
const PREFACE = 'PRI * HTTP/2.0\r\n\r\n';

/** Whether the bytes are a part of it: what follows decides. */
function beginsPreface(bytes: Buffer, from: number, to: number): boolean {
  return to - from < PREFACE.length && PREFACE.startsWith(bytes.toString('latin1', from, to));
}

/** Whether a client with prior knowledge (RFC 9113 §3.3) has begun with HTTP/2. */
export function beginsHttp2(input: ReadBuffer): boolean {
  return input.bytes.toString('latin1', input.from, input.from + PREFACE.length) === PREFACE;
}
