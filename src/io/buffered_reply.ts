import type { Sent } from '../engine/questions.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './ports.ts';
import { BodyPump, type BodyPumpParts } from './body_pump.ts';

/**
 * Collects a body that is sent in one piece, made from the whole. One that is longer than `limitBytes`, or
 * that is incomplete and not worth waiting for, is passed to `stream` instead, with the bytes so far.
 */
export class BufferedReply implements BodyTaker {
  readonly #parts: BodyPumpParts;
  readonly #source: ResponseBody;
  readonly #when: { readonly limitBytes: number; readonly waits: boolean };
  readonly #stream: (source: ResponseBody) => void;
  /** Makes the piece, and starts the response. */
  readonly #make: (whole: Uint8Array) => Uint8Array;
  readonly #pump: BodyPump;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** Number of pieces that are already copies. */
  #kept = 0;
  #onward: BodyTaker | null = null;

  constructor(
    parts: BodyPumpParts,
    source: ResponseBody,
    when: { readonly limitBytes: number; readonly waits: boolean },
    stream: (source: ResponseBody) => void,
    done: (sent: Sent) => void,
    make: (whole: Uint8Array) => Uint8Array,
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
    for (; this.#kept < this.#pieces.length; this.#kept++) {
      this.#pieces[this.#kept] = Buffer.from(this.#pieces[this.#kept]!);
    }
    return true;
  }

  end(trailers: FieldList): void {
    if (this.#onward !== null) {
      this.#onward.end(trailers);
      return;
    }
    const { sink } = this.#parts;
    if (sink.gone) return;
    const whole = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#bytes);
    const bytes = this.#make(whole);
    this.#pump.rawBytes = () => (sink.sentBytes === bytes.length ? whole.length : sink.sentBytes);
    sink.take(bytes);
    this.#pump.end(NO_FIELDS);
  }

  fail(fault: BodyFault, detail: string): void {
    if (this.#onward !== null) this.#onward.fail(fault, detail);
    else this.#pump.fail(fault, detail);
  }

  /** Passes on the collected bytes, and then what follows. */
  #goOver(): boolean {
    const pieces = this.#pieces;
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
