import type { Sent } from '../engine/questions.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './ports.ts';
import { BodyPump, type BodyPumpParts, CompressedLength } from './body_pump.ts';
import type { CompressedBytes } from './compressor.ts';
import { emptyList } from './empty_list.ts';
import { freeBuffers } from './free_buffers.ts';

/**
 * Collects a body that is sent in one piece, made from the whole. One that is longer than `limitBytes`, or
 * that is incomplete and not worth waiting for, is passed to `stream` instead, with the bytes so far.
 */
export class BufferedReply implements BodyTaker {
  readonly #parts: BodyPumpParts;
  readonly #source: ResponseBody;
  readonly #when: { readonly limitBytes: number; readonly waits: boolean };
  readonly #stream: (source: ResponseBody) => void;
  /** Makes the piece, and starts the response; the bytes of the whole are overwritten afterwards. */
  readonly #make: (whole: Uint8Array) => CompressedBytes;
  readonly #pump: BodyPump;
  /** Lent bytes of the current read. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** A copy of what came in earlier reads; null without any. */
  #kept: Buffer | null = null;
  #keptBytes = 0;
  #onward: BodyTaker | null = null;

  constructor(
    parts: BodyPumpParts,
    source: ResponseBody,
    when: { readonly limitBytes: number; readonly waits: boolean },
    stream: (source: ResponseBody) => void,
    done: (sent: Sent) => void,
    make: (whole: Uint8Array) => CompressedBytes,
  ) {
    this.#parts = parts;
    this.#source = source;
    this.#when = when;
    this.#stream = stream;
    this.#make = make;
    this.#pump = new BodyPump(parts, source, done);
  }

  take(bytes: Uint8Array): void {
    if (this.#onward !== null) this.#onward.take(bytes);
    else {
      this.#pieces.push(bytes);
      this.#bytes += bytes.length;
    }
  }

  rest(): boolean {
    if (this.#onward !== null) return this.#onward.rest();
    if (!this.#when.waits || this.#bytes > this.#when.limitBytes) return this.#goOver();
    this.#keep();
    return true;
  }

  end(trailers: FieldList): boolean {
    if (this.#onward !== null) return this.#onward.end(trailers);
    const { sink } = this.#parts;
    if (sink.gone) return true;
    const isOnePiece = this.#pieces.length === 1 && this.#kept === null;
    const { bytes, ownsMemory } = this.#make(
      isOnePiece ? this.#pieces[0]! : this.#keep().subarray(0, this.#keptBytes),
    );
    if (this.#kept !== null) freeBuffers.give(this.#kept);
    this.#pump.rawLength = new CompressedLength(bytes.length, this.#bytes);
    if (ownsMemory) this.#pump.owned = bytes;
    sink.take(bytes);
    this.#pump.end(NO_FIELDS);
    return true; // what was lent is not sent
  }

  fail(fault: BodyFault, detail: string): void {
    if (this.#onward !== null) this.#onward.fail(fault, detail);
    else this.#pump.fail(fault, detail);
  }

  /** Copies the lent bytes behind those of earlier reads; returns all of them. */
  #keep(): Buffer {
    const kept = (this.#kept = freeBuffers.withRoom(this.#kept, this.#keptBytes, this.#bytes));
    for (const piece of this.#pieces) {
      kept.set(piece, this.#keptBytes);
      this.#keptBytes += piece.length;
    }
    emptyList(this.#pieces);
    return kept;
  }

  /** Passes on the collected bytes, and then what follows. */
  #goOver(): boolean {
    const earlier = this.#kept === null ? [] : [this.#kept.subarray(0, this.#keptBytes)];
    const pieces = [...earlier, ...this.#pieces];
    this.#pieces = [];
    let goesOn = true;
    const source = this.#source;
    this.#pump.leave();
    this.#stream({
      lengthBytes: null,
      flow: (taker) => {
        this.#onward = taker;
        for (const piece of pieces) taker.take(piece);
        goesOn = taker.rest();
      },
      resume: () => source.resume(),
      cancel: () => source.cancel(),
    });
    return goesOn;
  }
}
