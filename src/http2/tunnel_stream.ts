import { Duplex } from 'node:stream';
import type { RequestBody } from '../engine/drivers/exchange_port.ts';
import type { StreamWriter } from './stream_writer.ts';

/** A stream that carries another protocol (RFC 8441 §5), as a connection. */
export class TunnelStream extends Duplex {
  readonly #body: RequestBody;
  readonly #writer: StreamWriter;
  readonly #reset: () => void;
  #isFlowing = false;
  #isPaused = false;
  /** The client has ended its side. */
  #hasEnded = false;
  #written: (() => void) | null = null;

  /** `reset` ends the stream before both sides have ended it. */
  constructor(body: RequestBody, writer: StreamWriter, reset: () => void) {
    super({ allowHalfOpen: true });
    this.#body = body;
    this.#writer = writer;
    this.#reset = reset;
  }

  override _read(): void {
    if (this.#isFlowing) {
      if (!this.#isPaused) return;
      this.#isPaused = false;
      this.#body.resume();
      return;
    }
    this.#isFlowing = true;
    this.#body.flow({
      take: (bytes) => void (this.#isPaused = !this.push(Buffer.from(bytes))),
      rest: () => !this.#isPaused,
      end: () => {
        this.#hasEnded = true;
        this.push(null);
        return true; // what was lent is copied
      },
      fail: (_fault, detail) => void this.destroy(new Error(detail)),
    });
  }

  override _write(bytes: Buffer, _encoding: string, written: () => void): void {
    this.#writer.push(bytes);
    if (this.#writer.flush()) written();
    else this.#written = written;
  }

  override _final(written: () => void): void {
    this.#writer.end('');
    if (this.#writer.flush()) written();
    else this.#written = written;
  }

  override _destroy(error: Error | null, destroyed: (error?: Error | null) => void): void {
    if (!this.#hasEnded || !this.#writer.isOver) this.#reset();
    this.room();
    destroyed(error);
  }

  /** Everything that was written is with the system. */
  room(): void {
    const written = this.#written;
    this.#written = null;
    written?.();
  }
}
