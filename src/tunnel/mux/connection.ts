import type { Duplex } from 'node:stream';
import { contain, within } from '../../io/containment.ts';
import { type Postponed, tickBatch } from '../../io/tick_batch.ts';
import { MUX_ERROR, windowFrame } from './frames.ts';
import { IDLE_STREAM, Multiplexer, type MuxOptions, type MuxOwner } from './multiplexer.ts';
import { Output } from './output.ts';
import type { MuxStream, StreamTaker } from './stream.ts';

/** Streams wait for their turn while this much is on its way to the connection. */
const PAUSE_BYTES = 262_144;
/** A peer that lets this much output pile up does not read, and frames of ours answer its own. */
const BACKLOG_BYTES = 524_288;
/**
 * Agents leave Nagle's algorithm on, so a small frame waits for the acknowledgement of the one before it, which the
 * system delays by 40 ms unless something is sent. This frame is sent when there is nothing else: credit for a stream
 * that is never opened, which agents ignore. Agents in Go end their session at credit of no bytes. Such a frame is not
 * answered, so two connections of ours do not keep each other busy.
 */
const IDLE_FRAME = windowFrame(IDLE_STREAM, 1);
/**
 * Input or output of one tick that is part of a transfer. More follows at once, and only its last frame has to wait, so
 * one frame a millisecond is enough; one for each tick would cost more than the transfer.
 */
const BULK_BYTES = 8_192;
const BULK_MS = 1;
/** How long the peer may take to read the last frames and to close the connection, after which it is cut. */
const LINGER_MS = 5_000;

/** What a connection passes to the session. */
export interface MuxSession {
  opened(stream: MuxStream): StreamTaker | null;
  /** Frames have arrived and were processed. */
  received(): void;
  /** The connection carries nothing more, for this reason; all its streams have been reset before. Called once. */
  closed(reason: string): void;
}

/** The streams of one connection. Output of a tick is sent together. */
export class MuxConnection implements MuxOwner, Postponed {
  readonly mux: Multiplexer;
  readonly #socket: Duplex;
  readonly #session: MuxSession;
  readonly #output = new Output();
  #isPostponed = false;
  /** Bytes received in this tick that need credit. */
  #tickBytes = 0;
  /** Bytes of the last output. */
  #lastBytes = 0;
  #acknowledging: NodeJS.Timeout | null = null;
  #reason: string | null = null;

  constructor(socket: Duplex, session: MuxSession, options: MuxOptions) {
    this.#socket = contain(socket);
    this.#session = session;
    this.mux = new Multiplexer(this, options);
    socket.on('data', (bytes: Buffer) => this.#received(bytes));
    socket.on('drain', () => this.mux.resume());
    socket.on('error', (error: Error) => this.close(error.message));
    socket.once('end', () => this.close('the agent closed the connection'));
    socket.once('close', () => this.#closed());
  }

  opened(stream: MuxStream): StreamTaker | null {
    return this.#session.opened(stream);
  }

  room(bytes: number): Buffer {
    const room = this.#output.room(bytes);
    if (this.#output.bytes + this.#socket.writableLength >= PAUSE_BYTES) this.mux.pause();
    this.#postpone();
    return room;
  }

  /** An agent whose connection ends connects again, and binds its tunnels again. */
  exhausted(): void {
    this.close('all ids of streams have been used');
  }

  /**
   * Ends the session at once. The peer still gets what was sent before, and a GOAWAY, and then closes the connection: if
   * this side closed it with unread bytes, the system would send a reset, which can overtake them.
   */
  close(reason: string): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.mux.leave();
    this.settle();
    this.#endSession(reason);
    const socket = this.#socket;
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.end();
  }

  settle(): void {
    this.#isPostponed = false;
    const socket = this.#socket;
    const received = this.#tickBytes;
    this.#tickBytes = 0;
    if (socket.destroyed || socket.writableEnded) {
      this.#output.clear();
      return;
    }
    if (this.#output.bytes === 0 && (this.#reason !== null || received <= 0)) return;
    if (this.#output.bytes === 0) {
      if (received < BULK_BYTES && this.#lastBytes < BULK_BYTES) socket.write(IDLE_FRAME);
      else this.#acknowledging ??= setTimeout(this.#acknowledge, BULK_MS);
      return;
    }
    this.#lastBytes = this.#output.bytes;
    this.#output.writeTo(socket);
    if (socket.writableLength > BACKLOG_BYTES) this.#cut('the agent does not read what is sent to it');
    else if (!socket.writableNeedDrain) this.mux.resume();
  }

  readonly #acknowledge = (): void => {
    this.#acknowledging = null;
    this.#lastBytes = 0;
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(IDLE_FRAME);
  };

  #received(bytes: Buffer): void {
    if (this.#reason !== null) return;
    within(this.#socket, () => {
      const problem = this.mux.receive(bytes);
      this.#tickBytes += bytes.length - this.mux.takeIdleBytes();
      if (problem === null) this.#session.received();
      else this.close(problem);
    });
    this.#postpone();
  }

  #postpone(): void {
    if (this.#isPostponed) return;
    this.#isPostponed = true;
    tickBatch.add(this);
  }

  /** Ends the session and the connection at once. */
  #cut(reason: string): void {
    this.close(reason);
    this.#socket.destroy();
  }

  #closed(): void {
    if (this.#reason !== null) return;
    this.#reason = 'the connection was lost';
    this.#endSession(this.#reason);
  }

  #endSession(reason: string): void {
    clearTimeout(this.#acknowledging ?? undefined);
    this.#output.clear();
    this.mux.close(MUX_ERROR.none);
    this.#session.closed(reason);
  }
}
