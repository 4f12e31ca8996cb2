import { BodyDecoder, DATA, END } from '../../../src/http1/body_decoder.ts';
import { MORE, REFUSED } from '../../../src/http1/fields.ts';
import { CHUNKED } from '../../../src/http/framing.ts';
import { ReadBuffer } from '../../../src/io/read_buffer.ts';
import { WIRE_LIMITS, type WireLimits } from '../../../src/http/message_limits.ts';
import { RequestReader } from '../../../src/http1/request_head.ts';
import { ResponseReader } from '../../../src/http1/response_head.ts';

/** One parsed message; text is Latin-1. */
export interface ReadMessage {
  /** Method and target, or the status. */
  readonly line: string;
  readonly version: string;
  readonly fields: readonly string[];
  body: string;
  /** Whether it was complete. */
  whole: boolean;
}

/** The result of a stream of bytes: the messages in order, and why the next one was refused, if it was. */
export interface ReadStream {
  readonly messages: ReadMessage[];
  readonly problem: string | null;
  /** After the last message the connection has ended or switched protocols. */
  readonly over: boolean;
  /** Bytes that belong to no message. */
  readonly unread: number;
}

/** Bytes, and where they are split. */
export interface Stream {
  readonly bytes: Buffer;
  readonly cuts: readonly number[];
}

/** Bytes after the input: a parser that reads beyond its input finds these instead of the end. */
const BEHIND = Buffer.from('0\r\n\r\nGET /behind HTTP/1.1\r\nHost: b\r\n\r\n', 'latin1');

function* pieces({ bytes, cuts }: Stream): Generator<{ readonly piece: Buffer; readonly length: number }> {
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    const length = to - from;
    if (length > 0) yield { piece: Buffer.concat([bytes.subarray(from, to), BEHIND]), length };
    from = to;
  }
}

/** Reads requests like a connection, without serving them. */
export function readRequests(stream: Stream, limits: WireLimits = WIRE_LIMITS): ReadStream {
  const input = new ReadBuffer();
  const reader = new RequestReader(limits);
  const content = new BodyDecoder(limits);
  const messages: ReadMessage[] = [];
  let current: ReadMessage | null = null;
  let isLast = false;
  const refused = (problem: string): ReadStream => ({ messages, problem, over: true, unread: input.length });
  for (const { piece, length } of pieces(stream)) {
    input.add(piece, 0, length);
    for (;;) {
      if (current === null) {
        if (isLast) return { messages, problem: null, over: true, unread: input.length };
        if (input.length === 0) break;
        const read = reader.read(input.bytes, input.from, input.to);
        if (read === REFUSED) return refused(reader.problem.detail);
        if (read === MORE) break;
        const head = reader.head!;
        input.from = reader.end;
        const { method, target, version, headers } = head;
        current = { line: `${method} ${target}`, version, fields: headers, body: '', whole: false };
        messages.push(current);
        isLast = !head.keepAlive || head.asksUpgrade;
        content.begin(head.lengthBytes ?? CHUNKED);
      }
      const problem = takeContent(input, content, current);
      if (problem !== null) return refused(problem);
      if (!current.whole) break;
      current = null;
    }
    input.keep();
  }
  return { messages, problem: null, over: isLast && current === null, unread: input.length };
}

/** Reads consecutive responses, each to a GET. */
export function readResponses(stream: Stream, limits: WireLimits = WIRE_LIMITS): ReadStream {
  const input = new ReadBuffer();
  const reader = new ResponseReader(limits);
  const content = new BodyDecoder(limits);
  const messages: ReadMessage[] = [];
  let current: ReadMessage | null = null;
  let isLast = false;
  const refused = (problem: string): ReadStream => ({ messages, problem, over: true, unread: input.length });
  for (const { piece, length } of pieces(stream)) {
    input.add(piece, 0, length);
    for (;;) {
      if (current === null) {
        if (isLast) return { messages, problem: null, over: true, unread: input.length };
        if (input.length === 0) break;
        const read = reader.read(input.bytes, input.from, input.to, false);
        if (read === REFUSED) return refused(reader.problem.detail);
        if (read === MORE) break;
        const head = reader.head!;
        input.from = reader.end;
        current = { line: `${head.status}`, version: '', fields: head.headers, body: '', whole: false };
        messages.push(current);
        isLast = head.status === 101 || (head.status >= 200 && !head.keepAlive);
        content.begin(head.framing);
      }
      const problem = takeContent(input, content, current);
      if (problem !== null) return refused(problem);
      if (!current.whole) break;
      current = null;
    }
    input.keep();
  }
  if (current !== null && content.endsByClose()) current.whole = true;
  return { messages, problem: null, over: isLast, unread: input.length };
}

/** Decodes the available content; returns why it is refused. */
function takeContent(input: ReadBuffer, content: BodyDecoder, message: ReadMessage): string | null {
  for (;;) {
    const found = content.next(input.bytes, input.from, input.to);
    if (content.at > input.to || content.at < input.from) throw new Error('it has read past its input');
    input.from = content.at;
    if (found === DATA) {
      if (content.dataTo > input.to) throw new Error('it has read past its input');
      message.body += input.bytes.toString('latin1', content.dataFrom, content.dataTo);
    } else if (found === END) {
      message.whole = true;
      return null;
    } else return found === REFUSED ? content.problem.detail : null;
  }
}
