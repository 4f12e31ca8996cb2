import { endsAtHead } from '../http/bodyless.ts';
import type { FieldList } from '../http/fields.ts';
import { FieldReader } from './header_cache.ts';
import { CR, LF, SP, VALUE } from './bytes.ts';
import { faultIn, hasEnd, MORE, REFUSED, section } from './fields.ts';
import { CHUNKED, framingOf, UNTIL_CLOSE } from '../http/framing.ts';
import type { WireLimits } from '../http/message_limits.ts';
import { type HeadFields, hasMember, isKept } from './message.ts';
import { type Problem, problem } from '../http/message_problem.ts';
import { HEAD } from './request_head.ts';

/** A response head as received, and what it says about its message. */
export interface WireResponse {
  readonly status: number;
  readonly headers: FieldList;
  /**
   * The declared length; null without one (chunked, or until close). Has no meaning for a response without
   * content.
   */
  readonly lengthBytes: number | null;
  /** How the content is delimited: a number of bytes, `CHUNKED` or `UNTIL_CLOSE`. */
  readonly framing: number;
  /** Whether another response may follow on the connection (RFC 9112 §9.3). */
  readonly keepAlive: boolean;
  /** `Keep-Alive` as sent; may be empty. */
  readonly keepAliveHint: string;
  /** Whether it switches protocols: 101 with `Upgrade` and `Connection: upgrade`. */
  readonly switches: boolean;
}

const TOO_LARGE = problem('head_too_large', 'the response head is longer than the limit');
const NO_RESPONSE = problem('malformed', 'this is not an HTTP/1 status line');
const BAD_STATUS = problem('malformed', 'the status is invalid');
const INTERIM_CLOSE = problem('malformed', 'an interim response closes the connection');
const BAD_REASON = problem('malformed', 'the reason phrase has a control character');

/** Reads response heads as `RequestReader` reads request heads, and as strictly. */
export class ResponseReader {
  /** The last head, after `HEAD`. */
  head: WireResponse | null = null;
  /** Position after the last head. */
  end = 0;
  /** Why it was refused, after `REFUSED`. */
  problem: Problem = NO_RESPONSE;
  readonly #limits: WireLimits;
  readonly #fields: FieldReader;
  #seen = 0;

  constructor(limits: WireLimits) {
    this.#limits = limits;
    this.#fields = new FieldReader(limits.fields);
  }

  /**
   * Reads `bytes[from..to)`; `from` is the start of the head, `toHead` is set for responses to HEAD, which
   * have no content. Returns `HEAD`, `MORE` or `REFUSED`.
   */
  read(bytes: Buffer, from: number, to: number, toHead: boolean): number {
    const { headBytes } = this.#limits;
    if (this.#seen > 0 && !hasEnd(bytes, Math.max(from, from + this.#seen - 3), to)) {
      const fault = faultIn(bytes, from + this.#seen, to, from);
      if (fault !== null) return this.#refuse(fault);
      this.#seen = to - from;
      return to - from > headBytes ? this.#refuse(TOO_LARGE) : MORE;
    }
    const result = this.#parse(bytes, from, to, toHead);
    if (result === MORE) {
      const fault = this.#seen === 0 ? faultIn(bytes, from, to, from) : null;
      if (fault !== null) return this.#refuse(fault);
      this.#seen = to - from;
      return to - from > headBytes ? this.#refuse(TOO_LARGE) : MORE;
    }
    this.#seen = 0;
    if (result === HEAD && this.end - from > headBytes) return this.#refuse(TOO_LARGE);
    return result;
  }

  #parse(bytes: Buffer, from: number, to: number, toHead: boolean): number {
    if (to - from < 13) return beginsLine(bytes, from, to) ? MORE : this.#refuse(NO_RESPONSE);
    if (!beginsLine(bytes, from, to)) return this.#refuse(NO_RESPONSE);
    const version = bytes[from + 7] === 0x31 ? '1.1' : '1.0';
    const status = statusAt(bytes, from + 9);
    if (status < 0) return this.#refuse(BAD_STATUS);
    let at = from + 12;
    // The space before an empty reason phrase may be missing; all parsers accept that.
    if (bytes[at] !== SP && bytes[at] !== CR) return this.#refuse(BAD_STATUS);
    while (at < to && VALUE[bytes[at]!] === 1) at++;
    if (at + 1 >= to) return MORE;
    if (bytes[at] !== CR || bytes[at + 1] !== LF) return this.#refuse(BAD_REASON);
    const fieldsFrom = at + 2;
    const fields = this.#fields.read(bytes, fieldsFrom, to);
    if (fields === MORE) return MORE;
    if (fields === REFUSED) return this.#refuse(section.problem);
    this.end = this.#fields.end;
    return this.#conclude(status, version, fields, toHead);
  }

  #conclude(status: number, version: '1.0' | '1.1', fields: HeadFields, toHead: boolean): number {
    const declared = framingOf(fields, version, UNTIL_CLOSE);
    if (typeof declared !== 'number') return this.#refuse(declared);
    // RFC 9112 §6.3: these responses have no content, whatever their fields say.
    const bodiless = endsAtHead(toHead, status);
    const { connection } = fields;
    if (status < 200 && status !== 101 && !isKept(version, connection)) return this.#refuse(INTERIM_CLOSE);
    const switches = status === 101 && fields.hasUpgrade && hasMember(connection, 'upgrade');
    const framing = bodiless ? 0 : declared;
    this.head = {
      status,
      headers: fields.list,
      lengthBytes: declared === CHUNKED || declared === UNTIL_CLOSE ? null : declared,
      framing,
      keepAlive: isKept(version, connection) && framing !== UNTIL_CLOSE,
      keepAliveHint: fields.keepAlive,
      switches,
    };
    return HEAD;
  }

  #refuse(why: Problem): number {
    this.#seen = 0;
    this.problem = why;
    return REFUSED;
  }
}

const LINE = Buffer.from('HTTP/1.? ', 'latin1');

/** Whether the bytes, as far as received, match `HTTP/1.0 ` or `HTTP/1.1 `. */
function beginsLine(bytes: Buffer, from: number, to: number): boolean {
  const length = Math.min(LINE.length, to - from);
  for (let at = 0; at < length; at++) {
    const byte = bytes[from + at]!;
    if (at === 7 ? byte !== 0x30 && byte !== 0x31 : byte !== LINE[at]) return false;
  }
  return true;
}

/** Three digits from 100 to 599 (RFC 9110 §15); -1 for anything else. */
function statusAt(bytes: Buffer, at: number): number {
  const first = bytes[at]! - 0x30;
  const second = bytes[at + 1]! - 0x30;
  const third = bytes[at + 2]! - 0x30;
  if (first < 1 || first > 5 || second < 0 || second > 9 || third < 0 || third > 9) return -1;
  return first * 100 + second * 10 + third;
}
