import { MUX_ERROR } from './mux/frames.ts';
import type { Multiplexer } from './mux/multiplexer.ts';
import type { MuxStream, StreamTaker } from './mux/stream.ts';
import { STREAM, TYPE_BYTES } from './stream_kinds.ts';

const BEAT_BYTES = 4;
const NOTHING = new Uint8Array(0);
/** A look that is later than this comes after a pause of this process: beats may have arrived that were not read yet. */
const LATE_MS = 1_000;

/** Sends each beat of an agent back. The stream is never ended: an agent would flood it. */
export class EchoedBeats implements StreamTaker {
  readonly #stream: MuxStream;
  readonly #alive: () => void;
  /** The beginning of a beat. */
  #held: Uint8Array = NOTHING;

  constructor(stream: MuxStream, alive: () => void) {
    this.#stream = stream;
    this.#alive = alive;
  }

  data(bytes: Buffer): void {
    this.#stream.consumed(bytes.length);
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const whole = all.length - (all.length % BEAT_BYTES);
    // A copy of its own: a view would keep the whole read in memory.
    this.#held = whole === all.length ? NOTHING : Uint8Array.from(all.subarray(whole));
    if (whole === 0) return;
    this.#alive();
    // Without room, the agent does not read: then it gets no more echoes either.
    for (let at = 0; at < whole && this.#stream.sendWindow >= whole - at;) {
      const sent = this.#stream.write(all.subarray(at, whole));
      if (sent === 0) return;
      at += sent;
    }
  }

  ended(): void {}
  reset(): void {}
  turn(): void {}
}

interface Beating {
  /** Time between heartbeats of the agent, in ms. */
  readonly heartbeatMs: number;
  /** How much later one may come, in ms. */
  readonly toleranceMs: number;
}

/**
 * Notices an agent that is gone. An SDK that closes its session says nothing and leaves the connection open, so
 * silence is the only sign. An agent whose beat is overdue is asked with one of ours; if it does not answer within
 * the rest of the tolerance, it is lost.
 */
export class Heartbeats implements StreamTaker {
  readonly #mux: Multiplexer;
  readonly #times: Beating;
  readonly #lost: (silentMs: number) => void;
  #aliveMs = performance.now();
  #timer: NodeJS.Timeout;
  /** When the next look is due. */
  #dueMs = 0;
  #stream: MuxStream | null = null;
  #isAsked = false;

  constructor(mux: Multiplexer, times: Beating, lost: (silentMs: number) => void) {
    this.#mux = mux;
    this.#times = times;
    this.#lost = lost;
    this.#timer = this.#lookIn(this.#askMs);
  }

  /** The agent has sent a beat. */
  readonly alive = (): void => {
    this.#aliveMs = performance.now();
    this.#isAsked = false;
  };

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Silence after which the agent is asked. */
  get #askMs(): number {
    return this.#times.heartbeatMs + this.#times.toleranceMs / 2;
  }

  readonly #look = (): void => {
    const limitMs = this.#times.heartbeatMs + this.#times.toleranceMs;
    const nowMs = performance.now();
    const silentMs = nowMs - this.#aliveMs;
    if (silentMs >= limitMs && nowMs - this.#dueMs > LATE_MS) {
      this.#timer = this.#lookIn(LATE_MS);
      return;
    }
    if (silentMs >= limitMs) {
      this.#lost(silentMs);
      return;
    }
    if (silentMs >= this.#askMs && !this.#isAsked) this.#ask();
    const nextMs = (this.#isAsked ? limitMs : this.#askMs) - silentMs;
    this.#timer = this.#lookIn(Math.max(1, nextMs));
  };

  #lookIn(ms: number): NodeJS.Timeout {
    this.#dueMs = performance.now() + ms;
    return setTimeout(this.#look, ms);
  }

  /** Sends one beat, in one frame: an agent answers each of its reads. */
  #ask(): void {
    this.#isAsked = true;
    let stream = this.#stream;
    if (stream === null) {
      stream = this.#mux.open(this);
      if (stream === null) return;
      const kind = Buffer.alloc(TYPE_BYTES);
      kind.writeUInt32BE(STREAM.heartbeat);
      stream.write(kind);
      this.#stream = stream;
    }
    stream.write(Buffer.alloc(BEAT_BYTES, 1));
  }

  data(bytes: Buffer): void {
    this.#stream?.consumed(bytes.length);
    this.alive();
  }

  ended(): void {
    this.#stream?.abort(MUX_ERROR.streamCancelled);
    this.#stream = null;
  }

  reset(): void {
    this.#stream = null;
  }

  turn(): void {}
}
