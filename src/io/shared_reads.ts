import { Socket } from 'node:net';
import { ReadMemory } from './read_memory.ts';

/**
 * Called when `count` bytes were read into the start of `buffer`: places them in `memory` and calls `finish`. False
 * pauses the socket.
 */
type Taker<S> = (this: S, count: number, buffer: Buffer) => boolean;

/**
 * Reads of accepted sockets into buffers of ours. Node offers this only for sockets that it connects, as `onread`;
 * for each read of an accepted socket it allocates 64 kB and copies the bytes into memory of their size
 * (docs/decisions/0059_shared_reads.md).
 */
class SharedReads {
  readonly memory = new ReadMemory();
  readonly #fields = readFields(this.memory.shared);
  /** The buffer for the next read of the socket whose read was finished last, if it changes. */
  #next: Buffer | undefined;
  readonly #takeNext = (): Buffer | undefined => this.#next;

  /**
   * From now on, `taker` is called with what the socket reads. Returns false, and changes nothing, if the socket has no
   * handle that supports it; then it emits `data`. A socket is served once.
   */
  serve<S extends Socket>(socket: S, taker: Taker<S>): boolean {
    const fields = this.#fields;
    const { _handle: handle } = socket as { readonly _handle?: Handle | null };
    if (fields === null || typeof handle?.useUserBuffer !== 'function' || !(fields.buffer in socket))
      return false;
    const values = socket as unknown as Record<symbol, unknown>;
    if (values[fields.taker] === taker) return true;
    values[fields.buffer] = this.memory.shared;
    values[fields.taker] = taker;
    values[fields.generator] = this.#takeNext;
    handle.useUserBuffer(this.memory.shared);
    return true;
  }

  /** Ends a read; see `ReadMemory.finish`. */
  finish(count: number, buffer: Buffer, isFree: boolean): void {
    this.#next = this.memory.finish(count, buffer, isFree);
  }
}

/** The symbols under which Node's sockets keep `onread`. */
interface ReadFields {
  readonly buffer: symbol;
  readonly taker: symbol;
  /** Of a function that is called after the taker, and may return another buffer. */
  readonly generator: symbol;
}

/** What is used of a handle of Node's sockets. */
interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

const noTaker = (): boolean => true;

/** Finds the symbols at sockets that have `onread`; null if this version of Node keeps it elsewhere. */
function readFields(aBuffer: Buffer): ReadFields | null {
  const generate = (): Buffer => aBuffer;
  const buffer = symbolOf(aBuffer, aBuffer);
  const taker = symbolOf(aBuffer, noTaker);
  const generator = symbolOf(generate, generate);
  if (buffer === undefined || taker === undefined || generator === undefined) return null;
  return { buffer, taker, generator };
}

/** The symbol of `wanted` at a socket that reads into `buffer`. */
function symbolOf(buffer: Buffer | (() => Buffer), wanted: unknown): symbol | undefined {
  const socket = new Socket({ onread: { buffer, callback: noTaker } });
  const values = socket as unknown as Record<symbol, unknown>;
  socket.destroy();
  return Object.getOwnPropertySymbols(socket).find((symbol) => values[symbol] === wanted);
}

export const sharedReads = new SharedReads();
