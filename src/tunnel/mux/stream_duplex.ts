import { Duplex } from 'node:stream';
import { ReadBuffer } from '../../io/read_buffer.ts';
import { type Postponed, tickBatch } from '../../io/tick_batch.ts';
import { MUX_ERROR } from './frames.ts';
import type { MuxStream, StreamTaker } from './stream.ts';

/** Parts from this size on are passed on as they are. */
const PASSED_BYTES = 4_096;

const READ_BYTES = 65_536;
/** Two reads of a client's connection: with room for only one, reading would pause after each read. */
const WRITE_BYTES = 131_072;

type Done = (error?: Error | null) => void;

/**
 * A stream of a session as a Node stream, with backpressure both ways and half-close. It emits `connect` once its
 * stream is open, like a socket. Destroying it before both directions have ended aborts the stream.
 */
export class StreamDuplex extends Duplex implements StreamTaker, Postponed {
  /** What is written is not read from the given buffers later, as for TLS sockets. */
  readonly encrypted = true;
  /** What is written in one tick is sent together. */
  readonly batchesWrites = true;
  /** Whether it waits, because the session has as many connections as its agent takes. */
  isWaiting = false;
  /** Called once when the stream is over in both directions. */
  onOver: (() => void) | null = null;
  #stream: MuxStream | null = null;
  #chunk: Buffer | null = null;
  #at = 0;
  #done: Done | null = null;
  #final: Done | null = null;
  #hasReceived = false;
  #openingBytes = 0;
  /** What arrived in this tick behind unread bytes, joined: many small frames take no more memory than their bytes. */
  readonly #gathered = new ReadBuffer();
  /** Bytes in the read buffer that the peer may not send again yet. */
  #unread = 0;

  constructor() {
    super({ allowHalfOpen: true, readableHighWaterMark: READ_BYTES, writableHighWaterMark: WRITE_BYTES });
    // The stream may be reset when nothing listens to it any more; without a listener the error would end the process.
    this.on('error', () => undefined);
  }

  /** Whether the peer has sent anything, or read more than the bytes that opened the stream. */
  get isTaken(): boolean {
    return this.#hasReceived || (this.#stream?.grantedBytes ?? 0) > this.#openingBytes;
  }

  /** Starts to use an open stream, whose first bytes have been written. */
  attach(stream: MuxStream): void {
    this.#stream = stream;
    this.#openingBytes = stream.sentBytes;
    if (this.#chunk !== null) stream.wantsTurn();
    this.#end();
    this.emit('connect');
  }

  override _read(): void {
    const unread = this.#unread;
    this.#unread = 0;
    if (unread > 0) this.#stream?.consumed(unread);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#chunk = chunk;
    this.#at = 0;
    this.#done = done;
    this.#stream?.wantsTurn();
  }

  override _final(done: Done): void {
    this.#final = done;
    this.#end();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const stream = this.#stream;
    if (stream !== null && !(stream.hasEnded && stream.peerHasEnded)) stream.abort(MUX_ERROR.streamCancelled);
    this.#chunk = null;
    this.#gathered.clear();
    this.#over();
    done(error);
  }

  // --- the taker -------------------------------------------------------------------------------------------------

  data(bytes: Buffer): void {
    if (this.destroyed) return;
    this.#hasReceived = true;
    this.#unread += bytes.length;
    const waits = this.readableFlowing !== true || this.readableLength > 0 || this.#gathered.length > 0;
    // What waits here, and small parts wherever they wait, would keep the whole read in memory.
    if (!waits) this.#add(bytes.length >= PASSED_BYTES ? bytes : Buffer.from(bytes));
    else {
      if (this.#gathered.length === 0) tickBatch.add(this);
      this.#gathered.add(bytes);
      this.#gathered.keep();
    }
  }

  /** Adds what arrived in this tick to the read buffer. */
  settle(): void {
    const { unread } = this.#gathered;
    this.#gathered.clear();
    if (unread.length > 0 && !this.destroyed) this.#add(unread);
  }

  #add(bytes: Buffer): void {
    if (!this.push(bytes)) return;
    const unread = this.#unread;
    this.#unread = 0;
    this.#stream?.consumed(unread);
  }

  ended(): void {
    this.settle();
    if (!this.destroyed) this.push(null);
    if (this.#stream?.hasEnded === true) this.#over();
  }

  /** What has arrived completely is still read at the end of a session: an agent may leave right after its last answer. */
  reset(code: number, isWithSession: boolean): void {
    const end = (): void => void this.destroy(new Error(`the agent ended the connection (code ${code})`));
    if (!isWithSession || this.#stream?.peerHasEnded !== true || this.readableEnded) {
      end();
      return;
    }
    this.#over();
    this.once('end', end);
  }

  turn(): void {
    const chunk = this.#chunk;
    const stream = this.#stream;
    if (chunk === null || stream === null) return;
    this.#at += stream.write(this.#at === 0 ? chunk : chunk.subarray(this.#at));
    if (this.#at < chunk.length) {
      stream.wantsTurn();
      return;
    }
    const done = this.#done;
    this.#chunk = null;
    this.#done = null;
    done?.();
  }

  #end(): void {
    const done = this.#final;
    if (done === null || this.#stream === null) return;
    this.#final = null;
    this.#stream.end();
    if (this.#stream.peerHasEnded) this.#over();
    done();
  }

  #over(): void {
    const over = this.onOver;
    this.onOver = null;
    over?.();
  }
}
