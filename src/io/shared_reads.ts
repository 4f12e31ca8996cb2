import { Socket } from 'node:net';

/** Size of the buffer that all accepted sockets are read into, and of each in which reads are gathered. */
const BUFFER_BYTES = 65_536;
/** Longer reads get memory of their own. */
export const GATHERED_BYTES = 16_384;
/** Views of up to this length are kept: a new one takes longer than a short copy. */
const VIEWED_BYTES = 4_096;

/** Called with the number of bytes that are now at the start of the shared buffer; false pauses the socket. */
type Taker<S> = (this: S, count: number) => boolean;

/**
 * One read buffer for all accepted sockets. What is read is copied before the next read. Node offers this
 * only for sockets that it connects, as `onread`; for each read of an accepted socket it allocates 64 kB and
 * copies the bytes into memory of their size (docs/decisions/0059_shared_reads.md).
 */
class SharedReads {
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #fields: ReadFields | null;
  #gathered = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #end = 0;
  /** Views of the first bytes of the buffer, by their number. */
  readonly #views: Buffer[] = [];

  constructor() {
    this.#fields = readFields(this.#buffer);
  }

  /**
   * From now on, `taker` is called with what the socket reads. Returns false, and changes nothing, if the socket has no
   * handle that supports it; then it emits `data`.
   */
  serve<S extends Socket>(socket: S, taker: Taker<S>): boolean {
    const fields = this.#fields;
    const { _handle: handle } = socket as { readonly _handle?: Handle | null };
    if (fields === null || typeof handle?.useUserBuffer !== 'function' || !(fields.buffer in socket))
      return false;
    const values = socket as unknown as Record<symbol, unknown>;
    const isServed = values[fields.buffer] === this.#buffer;
    values[fields.buffer] = this.#buffer;
    values[fields.taker] = taker;
    if (!isServed) handle.useUserBuffer(this.#buffer);
    return true;
  }

  /** The `count` bytes that were just read, in memory of their own. */
  copy(count: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(count);
    this.#buffer.copy(bytes, 0, 0, count);
    return bytes;
  }

  /** The memory of the last `gather`. It is never overwritten; when it is full, another one follows. */
  get gathered(): Buffer {
    return this.#gathered;
  }

  /** Copies the `count` bytes that were just read into `gathered`, and returns where they end there. */
  gather(count: number): number {
    if (this.#end + count > BUFFER_BYTES) {
      this.#gathered = Buffer.allocUnsafeSlow(BUFFER_BYTES);
      this.#end = 0;
    }
    this.#gathered.set(this.#view(count), this.#end);
    this.#end += count;
    return this.#end;
  }

  #view(count: number): Buffer {
    if (count > VIEWED_BYTES) return this.#buffer.subarray(0, count);
    return (this.#views[count] ??= this.#buffer.subarray(0, count));
  }
}

/** The symbols under which Node's sockets keep the two parts of `onread`. */
interface ReadFields {
  readonly buffer: symbol;
  readonly taker: symbol;
}

/** What is used of a handle of Node's sockets. */
interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

const noTaker = (): boolean => true;

/** Finds the symbols at a socket that has `onread`; null if this version of Node keeps its parts elsewhere. */
function readFields(buffer: Buffer): ReadFields | null {
  const socket = new Socket({ onread: { buffer, callback: noTaker } });
  const values = socket as unknown as Record<symbol, unknown>;
  const symbols = Object.getOwnPropertySymbols(socket);
  const ofBuffer = symbols.find((symbol) => values[symbol] === buffer);
  const ofTaker = symbols.find((symbol) => values[symbol] === noTaker);
  socket.destroy();
  return ofBuffer === undefined || ofTaker === undefined ? null : { buffer: ofBuffer, taker: ofTaker };
}

export const sharedReads = new SharedReads();
