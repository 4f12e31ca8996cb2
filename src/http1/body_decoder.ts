import { NO_FIELDS, type FieldList } from '../http/fields.ts';
import { CR, LF, QUOTED, SEMICOLON, TOKEN } from './bytes.ts';
import { MORE, readSection, REFUSED, section } from './fields.ts';
import { CHUNKED, UNTIL_CLOSE } from '../http/framing.ts';
import type { WireLimits } from '../http/message_limits.ts';
import { KIND } from './names.ts';
import { gatherFields } from './message.ts';
import { type ContentProblemCode, type Problem, problem } from '../http/message_problem.ts';
import { hexDigit } from '../http/ascii.ts';

type ContentProblem = Problem<ContentProblemCode>;

/** Results of `next`: a piece of content, or its end; also `MORE` and `REFUSED`. */
export const DATA = 1;
export const END = 2;

const BAD_SIZE = problem('malformed', 'a chunk size is not a hexadecimal number');
const HUGE = problem('malformed', 'a chunk size is too large');
const BAD_EXTENSION = problem('malformed', 'a chunk extension is malformed');
const EXTENSIONS = problem('extensions_too_large', 'the chunk extensions are longer than the limit');
const BAD_END = problem('malformed', 'a chunk is not followed by CRLF');
const BAD_LINE = problem('malformed', 'the line of a chunk size does not end in CRLF');
const TRAILERS = problem('trailers_too_large', 'the trailer section is longer than the limit');
const FRAMING_TRAILER = problem('malformed', 'a trailer has a field that is only allowed in a head');

/** Fields about the message or its connection; some parsers honour them even in trailers. */
const OF_THE_HEAD: ReadonlySet<number> = new Set<number>([
  KIND.contentLength,
  KIND.transferEncoding,
  KIND.connection,
  KIND.upgrade,
]);

/** Maximum number of hex digits of a chunk size, including leading zeros. */
const SIZE_DIGITS = 16;

// table: where a chunked reader stands
const AT = {
  data: 0,
  size: 1,
  extensionName: 2,
  extensionValue: 3,
  quoted: 4,
  quotedPair: 5,
  afterQuoted: 6,
  sizeLf: 7,
  dataCr: 8,
  dataLf: 9,
  trailer: 10,
  done: 11,
} as const;

/** Decodes the content of one message after the other, however the bytes are split. */
export class BodyDecoder {
  /** The piece that the last `DATA` refers to. */
  dataFrom = 0;
  dataTo = 0;
  /** Position of the next unread byte. */
  at = 0;
  /** Trailer fields of chunked content, after `END`. */
  trailers: FieldList = NO_FIELDS;
  problem: ContentProblem = BAD_SIZE;
  readonly #limits: WireLimits;
  #framing = 0;
  #state: number = AT.done;
  /** Remaining bytes of the content, or of the chunk. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  /** Bytes of the extension part that is being read. */
  #partBytes = 0;
  /** The trailer section received so far, if it arrives in pieces. */
  #held: Buffer | null = null;

  constructor(limits: WireLimits) {
    this.#limits = limits;
  }

  /** Starts the content of a message: a number of bytes, `CHUNKED` or `UNTIL_CLOSE`. */
  begin(framing: number): void {
    this.#framing = framing;
    this.#left = framing === UNTIL_CLOSE ? Number.MAX_SAFE_INTEGER : framing;
    this.trailers = NO_FIELDS;
    if (framing === CHUNKED) {
      this.#state = AT.size;
      this.#left = 0;
      this.#digits = 0;
      this.#extensionBytes = 0;
      this.#held = null;
    } else this.#state = framing === 0 ? AT.done : AT.data;
  }

  /** Ends content that is delimited by the close of the connection; false for other content. */
  endsByClose(): boolean {
    if (this.#framing !== UNTIL_CLOSE || this.#state !== AT.data) return false;
    this.#state = AT.done;
    return true;
  }

  /** Reads on in `bytes[from..to)`. Returns `DATA`, `END`, `MORE` (all bytes were read) or `REFUSED`. */
  next(bytes: Buffer, from: number, to: number): number {
    this.at = from;
    if (this.#state === AT.done) return END;
    if (this.#state === AT.data && this.#framing !== CHUNKED) {
      if (from === to) return MORE;
      this.#take(to);
      if (this.#left === 0) this.#state = AT.done;
      return DATA;
    }
    return this.#chunked(bytes, to);
  }

  /** The available piece of content at the current position. */
  #take(to: number): void {
    const length = Math.min(this.#left, to - this.at);
    this.dataFrom = this.at;
    this.dataTo = this.at + length;
    this.at = this.dataTo;
    this.#left -= length;
  }

  #chunked(bytes: Buffer, to: number): number {
    while (this.at < to) {
      if (this.#state === AT.data) {
        this.#take(to);
        if (this.#left === 0) this.#state = AT.dataCr;
        return DATA;
      }
      if (this.#state === AT.trailer) return this.#trailer(bytes, to);
      const why = this.#byte(bytes[this.at++]!);
      if (why !== null) {
        this.problem = why;
        return REFUSED;
      }
    }
    return MORE;
  }

  /** Reads a byte of the chunk framing (RFC 9112 §7.1). */
  #byte(byte: number): ContentProblem | null {
    switch (this.#state) {
      case AT.size:
        return this.#size(byte);
      case AT.sizeLf:
        if (byte !== LF) return BAD_LINE;
        this.#state = this.#left === 0 ? AT.trailer : AT.data;
        return null;
      case AT.dataCr:
        if (byte !== CR) return BAD_END;
        this.#state = AT.dataLf;
        return null;
      case AT.dataLf:
        if (byte !== LF) return BAD_END;
        this.#state = AT.size;
        this.#digits = 0;
        return null;
      default:
        if (++this.#extensionBytes > this.#limits.extensionBytes) return EXTENSIONS;
        return this.#extension(byte);
    }
  }

  #size(byte: number): ContentProblem | null {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > SIZE_DIGITS) return HUGE;
      this.#left = this.#left * 16 + digit;
      return this.#left > Number.MAX_SAFE_INTEGER ? HUGE : null;
    }
    return this.#digits === 0 ? BAD_SIZE : this.#endOfPart(byte, BAD_SIZE);
  }

  /** Handles the end of a size or of an extension part: the end of the line, or another extension. */
  #endOfPart(byte: number, otherwise: ContentProblem): ContentProblem | null {
    if (byte === CR) this.#state = AT.sizeLf;
    else if (byte === SEMICOLON) {
      this.#state = AT.extensionName;
      this.#partBytes = 0;
    } else return otherwise;
    return null;
  }

  /**
   * `;name`, `;name=token`, `;name="quoted"` (RFC 9112 §7.1.1), without the optional white space, which is
   * refused.
   */
  #extension(byte: number): ContentProblem | null {
    switch (this.#state) {
      case AT.extensionName:
      case AT.extensionValue:
        if (TOKEN[byte] === 1) {
          this.#partBytes++;
          return null;
        }
        if (this.#state === AT.extensionValue && this.#partBytes === 0 && byte === 0x22) {
          this.#state = AT.quoted;
          return null;
        }
        if (this.#partBytes === 0) return BAD_EXTENSION;
        if (this.#state === AT.extensionName && byte === 0x3d) {
          this.#state = AT.extensionValue;
          this.#partBytes = 0;
          return null;
        }
        return this.#endOfPart(byte, BAD_EXTENSION);
      case AT.quoted:
        if (byte === 0x22) this.#state = AT.afterQuoted;
        else if (byte === 0x5c) this.#state = AT.quotedPair;
        else if (QUOTED[byte] === 0) return BAD_EXTENSION;
        return null;
      case AT.quotedPair:
        this.#state = AT.quoted;
        return QUOTED[byte] === 1 || byte === 0x22 || byte === 0x5c ? null : BAD_EXTENSION;
      default:
        return this.#endOfPart(byte, BAD_EXTENSION);
    }
  }

  #trailer(bytes: Buffer, to: number): number {
    let from = this.at;
    let held = bytes;
    let until = to;
    const before = this.#held?.length ?? 0;
    if (this.#held !== null) {
      held = Buffer.concat([this.#held, bytes.subarray(this.at, to)]);
      from = 0;
      until = held.length;
      // Only the end of a line can be the end of the section, so slowly arriving bytes are not rescanned.
      if (until <= this.#limits.trailerBytes && held.indexOf(LF, before) < 0)
        return this.#holdTrailer(held, to);
    } else if (bytes[from] === CR && from + 1 < to && bytes[from + 1] === LF) {
      this.at = from + 2;
      this.#state = AT.done;
      return END;
    }
    const end = readSection(held, from, until, this.#limits.fields);
    const length = (end > 0 ? end : until) - from;
    if (end === REFUSED || length > this.#limits.trailerBytes) {
      this.problem = end === REFUSED ? trailerProblem(section.problem) : TRAILERS;
      return REFUSED;
    }
    if (end === MORE) return this.#holdTrailer(before > 0 ? held : Buffer.from(bytes.subarray(from, to)), to);
    for (let index = 0; index < section.count; index++) {
      const { kind } = section.names[index]!;
      if (OF_THE_HEAD.has(kind)) {
        this.problem = FRAMING_TRAILER;
        return REFUSED;
      }
    }
    this.trailers = gatherFields(held, from, end).list;
    this.at += length - before;
    this.#held = null;
    this.#state = AT.done;
    return END;
  }

  #holdTrailer(held: Buffer, to: number): number {
    this.#held = held;
    this.at = to;
    return MORE;
  }
}

/** Too many trailer fields are reported as a trailer section that is too large. */
function trailerProblem({ code, detail }: typeof section.problem): ContentProblem {
  return code === 'malformed' ? problem(code, detail) : TRAILERS;
}
