import { NO_FIELDS } from '../http/fields.ts';
import type { BodyTaker, ResponseBody } from './ports.ts';

/**
 * A response body without a natural end, such as a stream of events: it ends when the edge stops. Clients of event
 * streams connect again (HTML, section 9.2), so an ordinary end loses nothing.
 */
export class StoppableBody implements ResponseBody {
  readonly lengthBytes: number | null;
  readonly #body: ResponseBody;
  readonly #stop: AbortSignal;
  #taker: BodyTaker | null = null;

  constructor(body: ResponseBody, stop: AbortSignal) {
    this.lengthBytes = body.lengthBytes;
    this.#body = body;
    this.#stop = stop;
  }

  flow(taker: BodyTaker): void {
    this.#taker = taker;
    if (this.#stop.aborted) return this.#end();
    this.#stop.addEventListener('abort', this.#end, { once: true });
    this.#body.flow({
      take: (bytes) => this.#taker?.take(bytes),
      rest: () => this.#taker?.rest() ?? true,
      end: (trailers) => this.#release()?.end(trailers) ?? false,
      fail: (fault, detail) => this.#release()?.fail(fault, detail),
    });
  }

  resume(): void {
    if (this.#taker !== null) this.#body.resume();
  }

  cancel(): void {
    this.#release();
    this.#body.cancel();
  }

  readonly #end = (): void => {
    const taker = this.#release();
    this.#body.cancel();
    taker?.end(NO_FIELDS);
  };

  /** The taker, which then gets nothing more from this body. */
  #release(): BodyTaker | null {
    this.#stop.removeEventListener('abort', this.#end);
    const taker = this.#taker;
    this.#taker = null;
    return taker;
  }
}
