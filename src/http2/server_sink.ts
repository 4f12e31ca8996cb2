import { type ServerHttp2Stream, constants } from 'node:http2';
import type { Duplex } from 'node:stream';
import {
  isStreamOver,
  resetStream,
  respond,
  respondInterim,
  sendTrailers,
  within,
} from '../io/containment.ts';
import { http2Fields, http2Trailers } from './fields.ts';
import { allValues, type FieldList, hasField } from '../http/fields.ts';
import type { ReplyFraming, ReplySink } from '../engine/drivers/exchange_port.ts';

/** What a response needs from its exchange. */
export interface SinkExchange {
  /** The head has been sent; further data from the client no longer matters to it. */
  begun(): void;
  /** Content starts or stops waiting for the client. */
  stalls(isStalling: boolean): void;
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
  /** We have cut it short. */
  isCut = false;
  readonly #stream: ServerHttp2Stream;
  readonly #exchange: SinkExchange;
  readonly #isTunnel: boolean;
  readonly #nowMs: () => number;
  #pieces: Uint8Array[] = [];
  #done: (() => void) | null = null;
  #trailers: FieldList = [];
  #isWaiting = false;
  /** The end of the stream is held back until all content has arrived. */
  #waitsForTrailers = false;
  /** Writes that the client's window has no room for yet. */
  #unsentWrites = 0;

  constructor(
    stream: ServerHttp2Stream,
    exchange: SinkExchange,
    method: string,
    options: { readonly takesTrailers: boolean; readonly isTunnel: boolean; readonly nowMs: () => number },
  ) {
    this.#stream = stream;
    this.#exchange = exchange;
    this.method = method;
    this.takesTrailers = options.takesTrailers;
    this.#isTunnel = options.isTunnel;
    this.#nowMs = options.nowMs;
  }

  interim(status: number, fields: FieldList): void {
    if (this.gone || this.headSent) return;
    // The other fields would bypass filters that edit response fields.
    const links = allValues(fields, 'link');
    respondInterim(this.#stream, { ':status': status, ...(links.length > 0 && { link: links }) });
  }

  sendContinue(): void {
    if (this.gone || this.headSent) return;
    respondInterim(this.#stream, { ':status': 100 });
  }

  head(status: number, fields: FieldList, { lengthBytes, content }: ReplyFraming): void {
    if (this.gone) return;
    const sent = http2Fields(fields);
    if (sent === null) throw new Error('the reply has a field that cannot be written as one line');
    if (lengthBytes !== null) sent.push('content-length', String(lengthBytes));
    if (!hasField(sent, 'date')) sent.push('date', new Date(this.#nowMs()).toUTCString());
    const endStream = !content || lengthBytes === 0;
    this.headSent = true;
    this.#exchange.begun();
    if (isStreamOver(this.#stream)) return; // `close` follows and reports that the client is gone
    const stream = this.#stream;
    // Node ends a stream before it resets it. Without a length, a cut response would look complete, so the
    // end is held back until it is known to be one.
    const waitForTrailers = !endStream && (this.takesTrailers || lengthBytes === null);
    this.#waitsForTrailers = waitForTrailers;
    if (waitForTrailers) stream.once('wantTrailers', this.#onWantTrailers);
    stream.on('drain', this.#onDrain);
    respond(stream, [':status', String(status), ...sent], { endStream, waitForTrailers });
  }

  take(bytes: Uint8Array): void {
    // Lent bytes are copied: they are written when the client's window has room.
    if (!this.gone && bytes.length > 0) this.#pieces.push(Buffer.from(bytes));
  }

  rest(): boolean {
    if (this.gone) return true;
    return this.#write();
  }

  end(trailers: FieldList, done: () => void): void {
    if (this.gone) {
      done();
      return;
    }
    this.#trailers = trailers;
    this.#done = done;
    if (isStreamOver(this.#stream)) return; // the rest is lost, as `close` reports
    this.#write();
    this.#exchange.stalls(true);
    const stream = this.#stream;
    if (!this.#waitsForTrailers) {
      if (stream.writableFinished) this.#finish();
      else stream.once('finish', this.#finish);
    }
    if (!stream.writableEnded) stream.end();
  }

  /** RFC 8441 §5: 200 and the stream itself. */
  switchProtocols(fields: FieldList, _protocol: string): Duplex | null {
    const sent = http2Fields(fields);
    if (this.gone || isStreamOver(this.#stream) || sent === null || !this.#isTunnel) return null;
    this.headSent = true;
    this.isOver = true;
    this.#exchange.begun();
    const kept: string[] = [];
    for (let at = 0; at < sent.length; at += 2) {
      if (sent[at] !== 'sec-websocket-accept') kept.push(sent[at]!, sent[at + 1]!);
    }
    return respond(this.#stream, [':status', '200', ...kept]) ? this.#stream : null;
  }

  /** Cuts only this stream; others on the connection are not affected. */
  destroy(): void {
    this.isCut = true;
    resetStream(this.#stream, constants.NGHTTP2_INTERNAL_ERROR);
  }

  cut(done: () => void): void {
    this.isCut = true;
    this.#write();
    if (this.gone || isStreamOver(this.#stream) || this.#unsentWrites === 0) {
      this.destroy();
      done();
      return;
    }
    this.#exchange.stalls(true);
    this.#done = done;
  }

  /**
   * Marks the stream as closed, possibly before the end of the response; returns a function that notifies the
   * waiters.
   */
  markGone(): () => void {
    if (this.isOver || this.gone) return () => undefined;
    this.gone = true;
    this.#pieces = [];
    return () => {
      const { onGone } = this;
      const done = this.#done;
      this.onGone = null;
      this.#done = null;
      onGone?.();
      done?.();
    };
  }

  #write(): boolean {
    const pieces = this.#pieces;
    if (pieces.length === 0 || isStreamOver(this.#stream)) return !this.#isWaiting;
    this.#pieces = [];
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    this.#unsentWrites++;
    const goesOn = this.#stream.write(bytes, (error) =>
      within(this.#stream, () => this.#written(bytes.length, error)),
    );
    this.#isWaiting = !goesOn;
    this.#exchange.stalls(!goesOn);
    return goesOn;
  }

  #written(bytes: number, error: Error | null | undefined): void {
    this.#unsentWrites--;
    if (error) return;
    this.sentBytes += bytes;
    this.#exchange.stalls(this.#isWaiting || this.#done !== null);
    if (this.isCut && this.#unsentWrites === 0) this.#endCut();
  }

  #endCut(): void {
    this.destroy();
    this.#finish();
  }

  readonly #onWantTrailers = (): void => {
    if (this.isCut) return;
    sendTrailers(this.#stream, this.takesTrailers ? http2Trailers(this.#trailers) : {});
    // Node sends them in the next tick. If the stream is closed before that, its client never sees the end.
    // docs/decisions/0020 has what else was seen.
    setImmediate(() => within(this.#stream, this.#finish));
  };

  readonly #onDrain = (): void => {
    this.#isWaiting = false;
    this.#exchange.stalls(false);
    if (this.#done === null) this.onRoom?.();
  };

  readonly #finish = (): void => {
    const done = this.#done;
    if (done === null) return;
    this.#done = null;
    this.isOver = true;
    this.#exchange.stalls(false);
    done();
  };
}
