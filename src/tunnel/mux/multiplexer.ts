import {
  dataFrame,
  type FrameFault,
  FrameReader,
  type FrameTaker,
  goawayFrame,
  MUX_ERROR,
  resetFrame,
  WINDOW_FRAME_BYTES,
  windowFrame,
} from './frames.ts';
import { MuxStream, type StreamTaker, type StreamsConnection, WINDOW_BYTES } from './stream.ts';

/** A stream that is never opened: credit for it is sent as a filler when a frame is required. */
export const IDLE_STREAM = 0x7fff_fffe;
const NOTHING = Buffer.alloc(0);

export interface MuxOwner {
  /** The peer opened a stream; returns its taker, or null to refuse it. */
  opened(stream: MuxStream): StreamTaker | null;
  /** Room for a frame for the connection, which is filled at once. */
  room(bytes: number): Buffer;
  /** All ids of own streams have been used: only another connection can carry more. */
  exhausted(): void;
}

export interface MuxOptions {
  /** 2 on the side of the service, 3 on the side of the agent; ids go up in steps of 2. */
  readonly firstId: number;
  /** Maximum number of streams that the peer may have open. */
  readonly peerStreams: number;
}

/**
 * The streams of one connection: a state machine from bytes to calls, and from calls to bytes. It knows no socket
 * and no clock. Memory: at most a window for each stream, and what its takers hold.
 */
export class Multiplexer implements FrameTaker, StreamsConnection {
  readonly #owner: MuxOwner;
  readonly #room = (bytes: number): Buffer => this.#owner.room(bytes);
  readonly #options: MuxOptions;
  readonly #reader = new FrameReader(this);
  readonly #streams = new Map<number, MuxStream>();
  /** Streams with something to send, in the order of their turns. */
  readonly #waiting = new Set<MuxStream>();
  #nextId: number;
  #lastPeerId = 0;
  #ownCount = 0;
  #isPaused = false;
  #isPumping = false;
  #fault: FrameFault | null = null;
  /** The peer has said that it goes. */
  #isLeft = false;
  /** We have said so. */
  #isLeaving = false;
  /** The connection is gone. */
  #isClosed = false;
  #idleBytes = 0;
  /** The stream of the current DATA frame; null: its body is dropped. */
  #current: MuxStream | null = null;

  constructor(owner: MuxOwner, options: MuxOptions) {
    this.#owner = owner;
    this.#options = options;
    this.#nextId = options.firstId;
  }

  /** Number of open streams that this side has opened. */
  get ownStreams(): number {
    return this.#ownCount;
  }

  /** Reads bytes. Returns why the session must end; null if it goes on. */
  receive(bytes: Buffer): string | null {
    const fault = this.#reader.read(bytes) ?? this.#fault;
    if (fault !== null) {
      this.leave(fault.code);
      return fault.detail;
    }
    return this.#isLeft ? 'the agent announced that it is leaving' : null;
  }

  /** Bytes received since the last call in frames for `IDLE_STREAM`: they say nothing and need no answer. */
  takeIdleBytes(): number {
    const bytes = this.#idleBytes;
    this.#idleBytes = 0;
    return bytes;
  }

  /** Opens a stream; null when all ids have been used, or after `close`. Its first frame opens it at the peer. */
  open(taker: StreamTaker): MuxStream | null {
    if (this.#isClosed) return null;
    if (this.#nextId >= IDLE_STREAM) {
      this.#owner.exhausted();
      return null;
    }
    const stream = new MuxStream(this, this.#nextId, true);
    this.#nextId += 2;
    stream.taker = taker;
    this.#streams.set(stream.id, stream);
    this.#ownCount++;
    return stream;
  }

  /** The connection takes no more: turns wait for `resume`. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#pump();
  }

  /** Tells the peer, once, that this side goes; a peer that has said so itself needs no answer. */
  leave(code: number = MUX_ERROR.none): void {
    if (this.#isLeaving || this.#isLeft) return;
    this.#isLeaving = true;
    goawayFrame(this.#lastPeerId, code, this.#room);
  }

  /** The connection is gone: all streams end. */
  close(code: number): void {
    this.#isClosed = true;
    const streams = Array.from(this.#streams.values());
    this.#streams.clear();
    this.#waiting.clear();
    this.#ownCount = 0;
    for (const stream of streams) {
      stream.isGone = true;
      stream.taker?.reset(code, true);
    }
  }

  // --- for streams -----------------------------------------------------------------------------------------------

  send(stream: MuxStream, bytes: Uint8Array, isLast: boolean): void {
    const opens = !stream.hasSent;
    stream.hasSent = true;
    dataFrame(stream.id, bytes, { opens, isLast }, this.#room);
  }

  grant(id: number, bytes: number): void {
    windowFrame(id, bytes, this.#room);
  }

  halfClosed(stream: MuxStream): void {
    stream.hasEnded = true;
    if (stream.peerHasEnded) this.#remove(stream);
  }

  /**
   * The end, a reset, and credit: an agent notices a reset alone neither while its upstream is silent nor while it
   * waits for credit.
   */
  abort(stream: MuxStream, code: number): void {
    if (stream.hasSent) {
      if (!stream.hasEnded) this.send(stream, NOTHING, true);
      resetFrame(stream.id, code, this.#room);
      windowFrame(stream.id, 1, this.#room);
    }
    this.#remove(stream);
  }

  schedule(stream: MuxStream): void {
    if (stream.isGone || stream.hasEnded) return;
    this.#waiting.add(stream);
    this.#pump();
  }

  /** Gives turns while the connection takes more; a stream without window waits for its next increment. */
  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      // Streams that want another turn are visited again, after all others.
      for (const stream of this.#waiting) {
        if (this.#isPaused) break;
        this.#waiting.delete(stream);
        if (stream.sendWindow > 0) stream.taker?.turn();
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #remove(stream: MuxStream): void {
    stream.isGone = true;
    this.#waiting.delete(stream);
    if (this.#streams.delete(stream.id) && isOurs(stream.id, this.#options)) this.#ownCount--;
  }

  // --- frames of the peer ----------------------------------------------------------------------------------------

  dataBegins(id: number, opens: boolean, lengthBytes: number): void {
    const known = opens ? this.#opened(id) : this.#streams.get(id);
    this.#current = null;
    if (known === undefined || known.peerHasEnded) {
      // An end of an unknown stream needs no answer, data does.
      if (lengthBytes > 0 && !opens) resetFrame(id, MUX_ERROR.streamClosed, this.#room);
      return;
    }
    if (lengthBytes > known.receiveWindow) {
      resetFrame(id, MUX_ERROR.flowControl, this.#room);
      this.#drop(known, MUX_ERROR.flowControl);
      return;
    }
    known.receiveWindow -= lengthBytes;
    this.#current = known;
  }

  dataPiece(bytes: Buffer): void {
    const stream = this.#current;
    if (stream !== null && !stream.isGone) stream.taker?.data(bytes);
  }

  dataEnds(isLast: boolean): void {
    const stream = this.#current;
    this.#current = null;
    if (stream === null || stream.isGone || !isLast) return;
    stream.peerHasEnded = true;
    if (stream.hasEnded) this.#remove(stream);
    stream.taker?.ended();
  }

  reset(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#drop(stream, code);
  }

  windowGrows(id: number, bytes: number): void {
    if (id === IDLE_STREAM) this.#idleBytes += WINDOW_FRAME_BYTES;
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.hasEnded) return;
    if (bytes > 0 && stream.sendWindow === 0) this.#waiting.add(stream);
    stream.grantedBytes += bytes;
    // More than the whole window is never granted for bytes that were sent.
    stream.sendWindow = Math.min(WINDOW_BYTES, stream.sendWindow + bytes);
    this.#pump();
  }

  goaway(): void {
    this.#isLeft = true;
  }

  #opened(id: number): MuxStream | undefined {
    if (isOurs(id, this.#options) || id <= this.#lastPeerId) {
      this.#fault ??= { code: MUX_ERROR.protocol, detail: `the agent must not open stream ${id}` };
      return undefined;
    }
    this.#lastPeerId = id;
    if (this.#streams.size - this.#ownCount >= this.#options.peerStreams) {
      resetFrame(id, MUX_ERROR.acceptQueueFull, this.#room);
      return undefined;
    }
    const stream = new MuxStream(this, id, false);
    stream.taker = this.#owner.opened(stream);
    if (stream.taker === null) {
      resetFrame(id, MUX_ERROR.streamRefused, this.#room);
      return undefined;
    }
    this.#streams.set(id, stream);
    return stream;
  }

  #drop(stream: MuxStream, code: number): void {
    this.#remove(stream);
    stream.taker?.reset(code, false);
  }
}

function isOurs(id: number, { firstId }: MuxOptions): boolean {
  return id % 2 === firstId % 2;
}
