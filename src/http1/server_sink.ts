import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WriteBuffer } from '../io/write_buffer.ts';
import { allValues, type FieldList, isFieldValue } from '../http/fields.ts';
import { passedTrailers } from '../http/trailers.ts';
import { chunkLine, fieldLines, LAST_CHUNK, seen, statusLine } from './write.ts';
import type { ReplyFraming, ReplySink } from '../engine/drivers/exchange_port.ts';

/** What a reply needs of the connection that it goes out on. */
export interface SinkConnection {
  readonly socket: Socket;
  readonly output: WriteBuffer;
  /** Longest time in which the client takes nothing of what is ready for it, in ms. */
  readonly writeIdleMs: number;
  /** Whether the reply whose head goes out now is to be the last one. */
  isLast(): boolean;
  /** Takes the connection over for another protocol; null where that was not asked for. */
  takeOver(): Duplex | null;
  /** The injected clock. */
  readonly nowMs: () => number;
}

/** The reply's sink on our own wire: head and first content go out in one write. */
export class Http1Sink implements ReplySink {
  readonly method: string;
  readonly takesTrailers: boolean;
  gone = false;
  onGone: (() => void) | null = null;
  onRoom: (() => void) | null = null;
  headSent = false;
  sentBytes = 0;
  /** The content has no end but that of the connection. */
  isUntilClose = false;
  /** The reply has ended, or the connection has become something else. */
  isOver = false;
  readonly #connection: SinkConnection;
  readonly #isOld: boolean;
  #isChunked = false;
  #isLast = false;
  /** Bytes of content that were given and not counted as sent. */
  #givenBytes = 0;
  #done: (() => void) | null = null;

  constructor(connection: SinkConnection, method: string, version: '1.0' | '1.1', takesTrailers: boolean) {
    this.#connection = connection;
    this.method = method;
    this.#isOld = version === '1.0';
    this.takesTrailers = takesTrailers;
  }

  interim(status: number, fields: FieldList): void {
    if (this.gone || this.headSent || this.#isOld) return; // RFC 9110 §15.2: HTTP/1.0 knows none
    // The rest of its fields would pass by whoever edits those of responses.
    const links = allValues(fields, 'link').flatMap((value) => ['link', value]);
    const lines = fieldLines(links);
    if (lines === null) return;
    this.#connection.output.text(`${statusLine(status)}${lines}\r\n\r\n`);
    this.#connection.output.flush();
  }

  sayContinue(): void {
    if (this.gone || this.headSent) return;
    this.#connection.output.text(CONTINUE);
    this.#connection.output.flush();
  }

  head(status: number, fields: FieldList, framing: ReplyFraming): void {
    if (this.gone) return;
    const lines = fieldLines(fields);
    if (lines === null) throw new Error('the reply has a field that would break out of its line');
    let text = statusLine(status) + lines;
    const { hasDate } = seen;
    const { lengthBytes, content } = framing;
    const isUntilClose = content && lengthBytes === null && this.#isOld;
    if (lengthBytes !== null) text += `\r\ncontent-length: ${lengthBytes}`;
    else if (content && !this.#isOld) {
      this.#isChunked = true;
      text += '\r\ntransfer-encoding: chunked';
    }
    this.#isLast = this.#connection.isLast() || isUntilClose;
    if (this.#isLast) text += '\r\nconnection: close';
    else if (this.#isOld) text += '\r\nconnection: keep-alive';
    text += hasDate ? '\r\n\r\n' : dateLine(this.#connection.nowMs());
    this.isUntilClose = isUntilClose;
    this.headSent = true;
    this.#connection.output.text(text);
  }

  take(bytes: Uint8Array): void {
    if (this.gone || bytes.length === 0) return;
    const { output } = this.#connection;
    this.#givenBytes += bytes.length;
    if (!this.#isChunked) output.piece(bytes);
    else {
      output.text(chunkLine(bytes.length));
      output.piece(bytes);
      output.text('\r\n');
    }
  }

  rest(): boolean {
    return this.gone || this.#flush();
  }

  end(trailers: FieldList, done: () => void): void {
    if (!this.gone) {
      if (this.#isChunked) this.#connection.output.text(this.#lastChunk(trailers));
      this.#done = done;
      if (!this.#flush(this.#isLast)) return;
      this.#done = null;
    }
    this.isOver = true;
    done();
  }

  #lastChunk(trailers: FieldList): string {
    if (trailers.length === 0 || !this.takesTrailers) return LAST_CHUNK;
    const lines = fieldLines(passedTrailers(trailers));
    return lines === null || lines === '' ? LAST_CHUNK : `0${lines}\r\n\r\n`;
  }

  switchProtocols(fields: FieldList, protocol: string): Duplex | null {
    const { output } = this.#connection;
    const lines = fieldLines(fields);
    if (this.gone || lines === null || !isFieldValue(protocol)) return null;
    output.settle();
    const duplex = this.#connection.takeOver();
    if (duplex === null) return null;
    this.headSent = true;
    this.isOver = true;
    output.text(`${statusLine(101)}${lines}\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`);
    output.flushNow();
    return duplex;
  }

  destroy(): void {
    this.#connection.output.settle();
    this.#connection.socket.destroy();
  }

  cut(done: () => void): void {
    const cut = (): void => {
      this.destroy();
      done();
    };
    if (this.gone || this.#flush(true)) cut();
    else this.#done = cut;
  }

  #flush(isNow = false): boolean {
    const { output, socket, writeIdleMs } = this.#connection;
    if (isNow ? output.flushNow() : output.flush()) {
      this.sentBytes += this.#givenBytes;
      this.#givenBytes = 0;
      return true;
    }
    // Node lets this timeout pass as long as the system takes bytes.
    socket.setTimeout(writeIdleMs);
    return false;
  }

  /** What was left over is with the system. */
  flushed(): void {
    this.#connection.socket.setTimeout(0);
    this.sentBytes += this.#givenBytes;
    this.#givenBytes = 0;
    const done = this.#done;
    if (done === null) {
      this.onRoom?.();
      return;
    }
    this.#done = null;
    this.isOver = true;
    done();
  }

  /** The connection is over, before the reply is if it has not ended; gives what tells whoever waits for either. */
  markGone(): () => void {
    if (this.isOver || this.gone) return () => undefined;
    this.gone = true;
    return () => {
      const onGone = this.onGone;
      const done = this.#done;
      this.onGone = null;
      this.#done = null;
      onGone?.();
      done?.();
    };
  }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

let dateSecond = 0;
let dateText = '';

/** The field that an origin's response has where the upstream gave none (RFC 9110 §6.6.1), and the end of the head. */
export function dateLine(nowMs: number): string {
  const second = Math.floor(nowMs / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = `\r\nDate: ${new Date(nowMs).toUTCString()}\r\n\r\n`;
  }
  return dateText;
}
