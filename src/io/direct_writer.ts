import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import { within } from './containment.ts';

/** The owner of a writer. */
export interface DirectWriterOwner {
  /** The system has accepted what it had left of earlier writes. */
  finished(): void;
}

/** What is used of the handle of a TCP socket: 0, or the negative number of an error of the system. */
interface Handle {
  /** Number of bytes that the system has not accepted. */
  readonly writeQueueSize: number;
  writeBuffer(request: object, bytes: Uint8Array): number;
  writeLatin1String(request: object, text: string): number;
  /** `pieces` are bytes, or pairs of a piece and its encoding. */
  writev(request: object, pieces: readonly (Uint8Array | string)[], areBytes: boolean): number;
}

/** Node's object for a write that the system has not accepted as a whole. */
interface WriteRequest {
  writer?: DirectWriter;
  /** Keeps the bytes in memory. */
  data?: unknown;
  oncomplete?(this: WriteRequest, status: number): void;
}

/** What is used of Node's binding to streams of the system. */
interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest;
  /** At `kLastWriteWasAsync`: whether the system has left something of the last write. */
  readonly streamBaseState: ArrayLike<number>;
  readonly kLastWriteWasAsync: number;
}

/** What is used of Node's internals. */
interface Internals extends StreamBinding {
  /** Names the field in which a socket keeps how many bytes waited when its timeout was last checked. */
  readonly queueSize: symbol;
}

/**
 * Writes to a TCP socket without its stream, which adds up to a quarter to the time of a small write. What the system
 * does not accept at once is sent before everything that is written later, also by the stream
 * (docs/decisions/0060_direct_writes.md).
 */
export class DirectWriter {
  readonly #socket: Socket;
  readonly #handle: Handle;
  readonly #owner: DirectWriterOwner;
  #unfinished = 0;

  private constructor(socket: Socket, handle: Handle, owner: DirectWriterOwner) {
    this.#socket = socket;
    this.#handle = handle;
    this.#owner = owner;
  }

  /**
   * The writer of a connected socket. Null where the stream must be used: with TLS, on other streams, and in versions
   * of Node without what is used here.
   */
  static of(stream: Duplex, owner: DirectWriterOwner): DirectWriter | null {
    if (binding === null || !(stream instanceof Socket) || 'encrypted' in stream) return null;
    const { _handle: handle } = stream as { readonly _handle?: Partial<Handle> | null };
    const isUsable =
      typeof handle?.writeBuffer === 'function' &&
      typeof handle.writeLatin1String === 'function' &&
      typeof handle.writev === 'function' &&
      typeof handle.writeQueueSize === 'number';
    return isUsable ? new DirectWriter(stream, handle as Handle, owner) : null;
  }

  /** Whether the system has accepted everything. */
  get isFinished(): boolean {
    return this.#unfinished === 0;
  }

  /**
   * Writes to the socket, which is not destroyed, and whose stream has nothing to write. False: bytes must stay valid
   * until `finished`. An error destroys the socket.
   */
  write(data: Uint8Array | string): boolean {
    const handle = this.#handle;
    const code =
      typeof data === 'string'
        ? handle.writeLatin1String(nextRequest, data)
        : handle.writeBuffer(nextRequest, data);
    return this.#written(code, data);
  }

  /** As `write`, for several pieces in one system call. */
  writeAll(pieces: readonly (Uint8Array | string)[]): boolean {
    const areBytes = pieces.every((piece) => typeof piece !== 'string');
    const data = areBytes ? pieces : pieces.flatMap(withEncoding);
    return this.#written(this.#handle.writev(nextRequest, data, areBytes), data);
  }

  /** Handles the outcome of a write; returns what `write` returns. */
  #written(code: number, data: unknown): boolean {
    if (code === 0 && binding!.streamBaseState[binding!.kLastWriteWasAsync] === 0) return true;
    const request = nextRequest;
    nextRequest = new binding!.WriteWrap();
    if (code !== 0) {
      this.#failed(code);
      return true;
    }
    request.writer = this;
    // Callers reuse their lists.
    request.data = Array.isArray(data) ? [...(data as readonly unknown[])] : data;
    request.oncomplete = onComplete;
    this.#unfinished++;
    // Otherwise `setTimeout` of the socket would not start again while the system accepts bytes.
    (this.#socket as unknown as Record<symbol, number>)[binding!.queueSize] = this.#handle.writeQueueSize;
    return false;
  }

  completed(status: number): void {
    this.#unfinished--;
    if (status < 0) this.#failed(status);
    else if (this.#unfinished === 0) within(this.#socket, () => this.#owner.finished());
  }

  #failed(code: number): void {
    if (this.#socket.destroyed) return;
    const name = getSystemErrorName(code);
    const fields = { errno: code, code: name, syscall: 'write' };
    this.#socket.destroy(Object.assign(new Error(`write ${name}`), fields));
  }
}

const binding = internals();
/** Node changes it only if the system does not accept the whole write. */
let nextRequest = binding === null ? {} : new binding.WriteWrap();

function onComplete(this: WriteRequest, status: number): void {
  this.writer!.completed(status);
}

function withEncoding(piece: Uint8Array | string): (Uint8Array | string)[] {
  return [piece, typeof piece === 'string' ? 'latin1' : 'buffer'];
}

/** Null if this version of Node has no such binding, or refuses it, as with `--permission`. */
function internals(): Internals | null {
  const { noDeprecation = false } = process;
  try {
    const node = process as unknown as { binding(name: string): Partial<StreamBinding> };
    // Users can do nothing about this use of it, and `--throw-deprecation` would end the process.
    process.noDeprecation = true;
    const { WriteWrap, streamBaseState, kLastWriteWasAsync } = node.binding('stream_wrap');
    if (typeof WriteWrap !== 'function' || kLastWriteWasAsync === undefined) return null;
    if (typeof streamBaseState?.[kLastWriteWasAsync] !== 'number') return null;
    const symbols = Object.getOwnPropertySymbols(new Socket());
    const queueSize = symbols.find(({ description }) => description === 'lastWriteQueueSize');
    if (queueSize === undefined) return null;
    return { WriteWrap, streamBaseState, kLastWriteWasAsync, queueSize };
  } catch {
    return null;
  } finally {
    process.noDeprecation = noDeprecation;
  }
}
