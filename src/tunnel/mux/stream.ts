/** The window of each stream in each direction, in bytes; fixed by the protocol. */
export const WINDOW_BYTES = 262_144;
/** Maximum body of the frames that we send, as long as a read of a client; after each, the next stream has its turn. */
const FRAME_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);
/** Consumed bytes are granted again in portions of this size: with half of the window a sender often waits for one. */
const GRANT_BYTES = 65_536;

/** The user of a stream. After `ended` and our own end, or after `reset`, nothing more is called. */
export interface StreamTaker {
  /** Data, which may be part of a larger buffer; `MuxStream.consumed` must be called for its length at some time. */
  data(bytes: Buffer): void;
  /** The peer has ended its direction. */
  ended(): void;
  /** The stream ended abruptly: the peer reset it, or its session has ended. */
  reset(code: number, isWithSession: boolean): void;
  /** The stream may send one frame: called once after each `wantsTurn`. */
  turn(): void;
}

/** What a stream needs from the connection that it is part of. */
export interface StreamsConnection {
  readonly send: (stream: MuxStream, bytes: Uint8Array, isLast: boolean) => void;
  readonly halfClosed: (stream: MuxStream) => void;
  readonly schedule: (stream: MuxStream) => void;
  readonly abort: (stream: MuxStream, code: number) => void;
  readonly grant: (id: number, bytes: number) => void;
}

/** One stream: two directions that end on their own. */
export class MuxStream {
  readonly id: number;
  taker: StreamTaker | null = null;
  /** Bytes that may be sent. */
  sendWindow = WINDOW_BYTES;
  /** Bytes that the peer may send. */
  receiveWindow = WINDOW_BYTES;
  sentBytes = 0;
  /** Bytes that the peer has read, as far as it said so. */
  grantedBytes = 0;
  hasSent: boolean;
  hasEnded = false;
  peerHasEnded = false;
  isGone = false;
  #ungranted = 0;
  readonly #mux: StreamsConnection;

  constructor(mux: StreamsConnection, id: number, isOurs: boolean) {
    this.#mux = mux;
    this.id = id;
    this.hasSent = !isOurs;
  }

  /** Sends one frame with as many bytes as fit; returns their number. Only in `turn`, or for small messages. */
  write(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this.sendWindow, FRAME_BYTES);
    if (count === 0 || this.isGone || this.hasEnded) return 0;
    this.sendWindow -= count;
    this.sentBytes += count;
    this.#mux.send(this, bytes.subarray(0, count), false);
    return count;
  }

  /** Ends our direction. */
  end(): void {
    if (this.isGone || this.hasEnded) return;
    this.#mux.send(this, NOTHING, true);
    this.#mux.halfClosed(this);
  }

  /** Asks for a turn, as soon as there is window and the connection takes more. */
  wantsTurn(): void {
    this.#mux.schedule(this);
  }

  /** Ends both directions at once. */
  abort(code: number): void {
    if (!this.isGone) this.#mux.abort(this, code);
  }

  /** The taker has used up this many bytes, so that the peer may send as many again. */
  consumed(bytes: number): void {
    this.#ungranted += bytes;
    if (this.#ungranted < GRANT_BYTES || this.isGone || this.peerHasEnded) return;
    this.receiveWindow += this.#ungranted;
    this.#mux.grant(this.id, this.#ungranted);
    this.#ungranted = 0;
  }
}
