import type { Reply, Sent } from '../engine/questions.ts';
import type { FieldList } from '../http/fields.ts';
import { withoutNames } from '../http/trailers.ts';
import { freeMemory } from './free_memory.ts';
import type { BodyFault, BodyTaker, ReplySink, RequestBody, ResponseBody } from './ports.ts';

export interface BodyPumpParts {
  readonly sink: ReplySink;
  readonly request: RequestBody;
}

/**
 * Knows how much content there was before compression. It is an object with a method, not a function made for each
 * response: V8 keeps such functions where they are called, each with its whole exchange, until it marks the whole heap
 * (docs/decisions/0058).
 */
export interface RawLength {
  /** Bytes of content before compression, where `sentBytes` have been sent. */
  rawBytesOf(sentBytes: number): number;
}

/** Content that was compressed whole: a client that did not read all of it did not read the originals either. */
export class CompressedLength implements RawLength {
  readonly #packedBytes: number;
  readonly #rawBytes: number;

  constructor(packedBytes: number, rawBytes: number) {
    this.#packedBytes = packedBytes;
    this.#rawBytes = rawBytes;
  }

  rawBytesOf(sentBytes: number): number {
    return sentBytes === this.#packedBytes ? this.#rawBytes : sentBytes;
  }
}

/** Moves the content of a response into its sink, at the client's pace, and reports the result once. */
export class BodyPump implements BodyTaker {
  /** Set if the content before compression differs from what was sent. */
  rawLength: RawLength | null = null;
  /** The whole content, if it was made for this response alone: its memory is freed once it has been sent. */
  owned: Uint8Array<ArrayBuffer> | null = null;
  /** Names of fields that the trailers must not have. */
  removed: Reply['removed'] = undefined;
  readonly #parts: BodyPumpParts;
  readonly #source: ResponseBody;
  #done: ((sent: Sent) => void) | null;

  constructor(parts: BodyPumpParts, source: ResponseBody, done: (sent: Sent) => void) {
    this.#parts = parts;
    this.#source = source;
    this.#done = done;
    const { sink } = parts;
    sink.onRoom = this.#onRoom;
    sink.onGone = this.#onGone;
    if (sink.gone) this.#onGone();
  }

  take(bytes: Uint8Array): void {
    this.#parts.sink.take(bytes);
  }

  rest(): boolean {
    return this.#parts.sink.rest();
  }

  end(trailers: FieldList): boolean {
    this.#parts.sink.end(withoutNames(trailers, this.removed), this.#onSent);
    return this.#done === null;
  }

  fail(_fault: BodyFault, _detail: string): void {
    const { sink, request } = this.#parts;
    // A client that leaves, or breaks off its own body, ends the upstream exchange, too.
    const cut = sink.gone || request.fault !== null ? 'client' : 'upstream';
    sink.onGone = null;
    sink.onRoom = null;
    // Content that arrived before the fault, perhaps in the same read, is sent before the cut.
    sink.cut(() => this.#finish(cut));
  }

  /** Hands the response over to another producer. */
  leave(): void {
    this.#done = null;
  }

  readonly #onRoom = (): void => this.#source.resume();

  readonly #onSent = (): void => {
    const { gone } = this.#parts.sink;
    // A write to a client that is gone may still refer to it.
    if (this.owned !== null && !gone) freeMemory(this.owned);
    this.owned = null;
    this.#finish(gone ? 'client' : 'none');
  };

  readonly #onGone = (): void => {
    this.#source.cancel();
    this.#finish('client');
  };

  #finish(cut: Sent['cut']): void {
    const done = this.#done;
    if (done === null) return;
    this.#done = null;
    const { sink, request } = this.#parts;
    sink.onGone = null;
    sink.onRoom = null;
    const { sentBytes } = sink;
    done({
      requestBytes: request.receivedBytes,
      responseBytes: sentBytes,
      rawResponseBytes: this.rawLength === null ? sentBytes : this.rawLength.rawBytesOf(sentBytes),
      cut,
    });
  }
}
