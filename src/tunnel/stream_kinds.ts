import { MUX_ERROR } from './mux/frames.ts';
import type { MuxStream, StreamTaker } from './mux/stream.ts';

/** Kinds of stream: the first four bytes of each, sent by the side that opens it. */
export const STREAM = {
  auth: 0,
  bind: 1,
  unbind: 2,
  restart: 4,
  stop: 5,
  update: 6,
  startLabelled: 7,
  serviceInfo: 8,
  /** Changes a tunnel; agents in Go only. */
  patch: 10,
  heartbeat: 0xffff_ffff,
} as const;

export const TYPE_BYTES = 4;

/** Reads the kind of a stream that an agent opened, and passes the stream on to what takes this kind. */
export class KindReader implements StreamTaker {
  readonly #stream: MuxStream;
  readonly #takerFor: (stream: MuxStream, kind: number) => StreamTaker | null;
  #kind = 0;
  #bytes = 0;

  constructor(stream: MuxStream, takerFor: (stream: MuxStream, kind: number) => StreamTaker | null) {
    this.#stream = stream;
    this.#takerFor = takerFor;
  }

  data(bytes: Buffer): void {
    let at = 0;
    for (; at < bytes.length && this.#bytes < TYPE_BYTES; at++, this.#bytes++)
      this.#kind = ((this.#kind << 8) | bytes[at]!) >>> 0;
    this.#stream.consumed(at);
    if (this.#bytes < TYPE_BYTES) return;
    const taker = this.#takerFor(this.#stream, this.#kind);
    if (taker === null) {
      this.#stream.abort(MUX_ERROR.streamCancelled);
      return;
    }
    this.#stream.taker = taker;
    if (at < bytes.length) taker.data(bytes.subarray(at));
  }

  /** An end before the kind: there is nothing to answer. */
  ended(): void {
    this.#stream.end();
  }

  reset(): void {}
  turn(): void {}
}
