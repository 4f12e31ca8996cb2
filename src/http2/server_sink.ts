import type { Duplex } from 'node:stream';
import { type FieldList, withoutField } from '../http/fields.ts';
import { interimFields } from '../http/forwarding.ts';
import type { ReplyFraming, ReplySink } from '../engine/drivers/exchange_port.ts';
import { encodeStatus } from './hpack/encoder.ts';
import { encodedField, encodedFields, encodedTrailers } from './response_fields.ts';
import type { StreamWriter } from './stream_writer.ts';

/** What a response needs from its exchange. */
export interface SinkExchange {
  readonly writer: StreamWriter;
  /** The head has been sent; further data from the client no longer matters to it. */
  begun(): void;
  /** Content starts or stops waiting for the client. */
  stalls(isStalling: boolean): void;
  /** Resets the stream, so that the client does not take the response for complete. */
  reset(): void;
  /** Resets the stream, and closes the connection after its other streams. */
  close(): void;
  /** The stream itself, for another protocol; null unless the client asked for that. */
  takeOver(): Duplex | null;
  readonly nowMs: () => number;
}

/** Writes a response to an HTTP/2 stream. */
export class Http2Sink implements ReplySink {
  readonly method: string;
  readonly takesTrailers: boolean;
  gone = false;
  onGone: (() => void) | null = null;
  onRoom: (() => void) | null = null;
  headSent = false;
  sentBytes = 0;
  /** All of the response was passed to the system, or the stream has become a tunnel. */
  isOver = false;
  readonly #exchange: SinkExchange;
  #done: (() => void) | null = null;
  /** Content until the declared length is complete; the frame with the last of it ends the stream. */
  #leftBytes = Number.POSITIVE_INFINITY;

  constructor(exchange: SinkExchange, method: string, takesTrailers: boolean) {
    this.#exchange = exchange;
    this.method = method;
    this.takesTrailers = takesTrailers;
  }

  interim(status: number, fields: FieldList): void {
    if (this.gone || this.headSent) return;
    const { text: block } = encodedFields(interimFields(fields));
    if (block !== null) this.#sendNow(encodeStatus(status) + block);
  }

  sendContinue(): void {
    if (!this.gone && !this.headSent) this.#sendNow(encodeStatus(100));
  }

  #sendNow(block: string): void {
    this.#exchange.writer.head(block, false);
    this.#exchange.writer.send();
  }

  head(status: number, fields: FieldList, { lengthBytes, content }: ReplyFraming): void {
    if (this.gone) return;
    const { text: block, hasDate } = encodedFields(fields);
    if (block === null) throw new Error('the reply has a field that cannot be written as one line');
    let sent = encodeStatus(status) + block;
    if (lengthBytes !== null) sent += encodedField('content-length', String(lengthBytes));
    if (!hasDate) sent += dateField(this.#exchange.nowMs());
    const endsStream = !content || lengthBytes === 0;
    this.headSent = true;
    this.#exchange.begun();
    if (content && lengthBytes !== null && !this.takesTrailers) this.#leftBytes = lengthBytes;
    this.#exchange.writer.head(sent, endsStream);
  }

  take(bytes: Uint8Array): void {
    if (this.gone || bytes.length === 0) return;
    const { writer } = this.#exchange;
    writer.push(bytes);
    this.#leftBytes -= bytes.length;
    if (this.#leftBytes <= 0) writer.end('');
  }

  rest(): boolean {
    return this.gone || this.#exchange.writer.flush();
  }

  end(trailers: FieldList, done: () => void): void {
    const { writer } = this.#exchange;
    if (!this.gone) {
      writer.end(this.takesTrailers ? encodedTrailers(trailers) : '');
      this.#done = done;
      if (!writer.flush()) return;
      this.#done = null;
    }
    this.#exchange.stalls(false);
    this.isOver = true;
    done();
  }

  /** RFC 8441 §5: 200 and the stream itself. */
  switchProtocols(fields: FieldList, _protocol: string): Duplex | null {
    const { text: block } = encodedFields(withoutField(fields, 'sec-websocket-accept'));
    if (this.gone || block === null) return null;
    const duplex = this.#exchange.takeOver();
    if (duplex === null) return null;
    this.headSent = true;
    this.isOver = true;
    this.#exchange.begun();
    this.#sendNow(encodeStatus(200) + block);
    return duplex;
  }

  /** Cuts only this stream; others on the connection are not affected. */
  destroy(): void {
    this.#exchange.reset();
  }

  /** The client is asked to open another connection, as the next request on this one would be refused, too. */
  close(): void {
    this.#exchange.close();
  }

  cut(done: () => void): void {
    const cut = (): void => {
      this.destroy();
      done();
    };
    if (this.gone || this.#exchange.writer.flush()) cut();
    else this.#done = cut;
  }

  accepted(bytes: number): void {
    this.sentBytes += bytes;
    this.#exchange.stalls(false);
  }

  room(): void {
    this.#exchange.stalls(false);
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
   * Marks the stream as closed, possibly before the end of the response; returns a function that notifies the
   * waiters.
   */
  markGone(): () => void {
    if (this.isOver || this.gone) return () => undefined;
    this.gone = true;
    return () => {
      const { onGone } = this;
      const done = this.#done;
      this.onGone = null;
      this.#done = null;
      onGone?.();
      done?.();
    };
  }
}

let dateSecond = 0;
let dateBlock = '';

/** The `Date` field of a response if the upstream sent none (RFC 9110 §6.6.1). */
function dateField(nowMs: number): string {
  const second = Math.floor(nowMs / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateBlock = encodedField('date', new Date(nowMs).toUTCString());
  }
  return dateBlock;
}
