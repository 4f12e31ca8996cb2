import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WriteBuffer } from '../io/write_buffer.ts';
import { type FieldList, isFieldValue } from '../http/fields.ts';
import { interimFields } from '../http/forwarding.ts';
import { passedTrailers } from '../http/trailers.ts';
import { chunkLine, fieldLines, LAST_CHUNK, seen, statusLine } from './write.ts';
import type { ReplyFraming, ReplySink } from '../engine/drivers/exchange_port.ts';

/** What a response needs from its connection. */
export interface SinkConnection {
  readonly socket: Socket;
  readonly output: WriteBuffer;
  /** Maximum time in which the client may read nothing, in ms. */
  readonly writeIdleMs: number;
  /** Whether the response whose head is sent now is the last one. */
  isLast(): boolean;
  /** Takes over the connection for another protocol; null if the client did not request that. */
  takeOver(): Duplex | null;
  /** The injected clock. */
  readonly nowMs: () => number;
}

/** Writes a response to an HTTP/1.1 connection: head and first content go out in one write. */
export class Http1Sink implements ReplySink {
  readonly method: string;
  readonly takesTrailers: boolean;
  gone = false;
  onGone: (() => void) | null = null;
  onRoom: (() => void) | null = null;
  headSent = false;
  sentBytes = 0;
  /** The end of the connection delimits the content. */
  isUntilClose = false;
  /** The response has ended, or the connection has switched protocols. */
  isOver = false;
  readonly #connection: SinkConnection;
  readonly #isOld: boolean;
  #isChunked = false;
  #isLast = false;
  /** Bytes of content that were written but are not counted as sent. */
  #givenBytes = 0;
  #done: (() => void) | null = null;

  constructor(connection: SinkConnection, method: string, version: '1.0' | '1.1', takesTrailers: boolean) {
    this.#connection = connection;
    this.method = method;
    this.#isOld = version === '1.0';
    this.takesTrailers = takesTrailers;
  }

  interim(status: number, fields: FieldList): void {
    if (this.gone || this.headSent || this.#isOld) return; // RFC 9110 §15.2: HTTP/1.0 has no interim responses
    const lines = fieldLines(interimFields(fields));
    if (lines === null) return;
    this.#connection.output.text(`${statusLine(status)}${lines}\r\n\r\n`);
    this.#connection.output.flush();
  }

  sendContinue(): void {
    if (this.gone || this.headSent) return;
    this.#connection.output.text(CONTINUE);
    this.#connection.output.flush();
  }

  head(status: number, fields: FieldList, framing: ReplyFraming): void {
    if (this.gone) return;
    const lines = fieldLines(fields);
    if (lines === null) throw new Error('the reply has a field that cannot be written as one line');
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

  close(): void {
    this.destroy();
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
    // Node restarts this timeout while the system accepts bytes.
    socket.setTimeout(writeIdleMs);
    return false;
  }

  /** The buffered rest has been passed to the system. */
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

  /**
   * Marks the connection as closed, possibly before the end of the response; returns a function that notifies
   * the waiters.
   */
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

/** The `Date` field of a response if the upstream sent none (RFC 9110 §6.6.1), and the end of the head. */
export function dateLine(nowMs: number): string {
  const second = Math.floor(nowMs / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = `\r\nDate: ${new Date(nowMs).toUTCString()}\r\n\r\n`;
  }
  return dateText;
}
