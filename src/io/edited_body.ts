import { chainEditors } from '../engine/body_editors.ts';
import type { BodyEditor, MakeBodyEditor } from '../engine/questions.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, ResponseBody } from './ports.ts';

/**
 * A body that is edited piece by piece: the output for a piece is passed on before the next one is read. A
 * body that cannot be edited fails, so that it is not taken for complete.
 */
export class EditedBody implements ResponseBody, BodyTaker {
  readonly lengthBytes = null;
  readonly #source: ResponseBody;
  readonly #editor: BodyEditor;
  #taker: BodyTaker | null = null;

  constructor(source: ResponseBody, makers: readonly MakeBodyEditor[]) {
    this.#source = source;
    this.#editor = chainEditors(makers);
  }

  flow(taker: BodyTaker): void {
    this.#taker = taker;
    this.#source.flow(this);
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(): void {
    this.#taker = null;
    this.#source.cancel();
  }

  take(bytes: Uint8Array): void {
    this.#give(this.#editor.push(bytes));
  }

  rest(): boolean {
    return this.#taker === null || this.#taker.rest();
  }

  end(_trailers: FieldList): boolean {
    this.#give(this.#editor.end());
    // Trailers may no longer be correct for the edited body, a checksum for example.
    return this.#taker?.end(NO_FIELDS) ?? false;
  }

  fail(fault: BodyFault, detail: string): void {
    this.#taker?.fail(fault, detail);
  }

  #give(bytes: Uint8Array | null): void {
    const taker = this.#taker;
    if (taker === null) return;
    if (bytes !== null) {
      // An editor may return the lent bytes, or its own.
      if (bytes.length > 0) taker.take(bytes);
      return;
    }
    this.cancel();
    taker.fail('malformed', 'the body cannot be edited');
  }
}
