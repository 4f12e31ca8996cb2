import type { Duplex } from 'node:stream';
import type { UpstreamRequest } from '../engine/questions.ts';
import { detailOf, dial, type DialOptions, type StaticEndpoint } from '../io/dial.ts';
import { ReadBuffer, unshiftBuffered } from '../io/read_buffer.ts';
import { type Reading, tickBatch, WAITING_BYTES } from '../io/tick_batch.ts';

/**
 * Size of the read buffer. Each connection has its own, and gets another one while bytes of it are lent. With 64 kB, responses of
 * 100 kB and more take 7 % longer; memory of it that is never read into is not used.
 */
const READ_BYTES = 131_072;

export type SocketLimits = Omit<DialOptions, 'onread' | 'connection'>;

/** What a socket tells its connection. */
export interface SocketReader extends Reading {
  connected(): void;
  /** Bytes have arrived. False: reading must pause. */
  came(): boolean;
  /** The peer has ended its side; all bytes before that were read. */
  ended(): void;
  closed(): void;
}

/** The socket of a connection to an upstream, and the bytes that have arrived on it. */
export class UpstreamSocket {
  readonly duplex: Duplex;
  readonly input = new ReadBuffer();
  isConnected = false;
  readonly #reader: SocketReader;
  /** What is read into; null for a connection that may be handed over. */
  #buffer: Buffer | null;
  /** Copies of content that waits for the end of the tick; the read buffer may be reused by then. */
  #copied: Buffer | null;
  readonly #isTls: boolean;
  /** A read is being processed: Node asks for the buffer of the next one when it is done. */
  #isInRead = false;
  #hasRead = false;
  /** What Node reads into. */
  #given: Buffer | null = null;
  /** The peer has ended its side. */
  #hasEnded = false;
  #error: Error | null = null;

  constructor(
    endpoint: StaticEndpoint,
    limits: SocketLimits,
    request: Pick<UpstreamRequest, 'upgrade' | 'connection'>,
    reader: SocketReader,
  ) {
    this.#reader = reader;
    this.#isTls = endpoint.tls;
    // Only a plain connection can be handed over; streams through agents are always read so.
    const plain = request.upgrade !== null || endpoint.tunnel !== undefined;
    this.#buffer = plain ? null : Buffer.allocUnsafeSlow(READ_BYTES);
    this.#copied = plain ? null : Buffer.allocUnsafeSlow(WAITING_BYTES);
    const onread = plain ? null : { buffer: this.#nextBuffer, callback: this.#onOwnRead };
    const socket = dial(endpoint, { ...limits, onread, connection: request.connection ?? null });
    this.duplex = socket;
    if (plain) socket.on('data', this.#onData);
    socket.on('error', this.#onError);
    socket.once('end', this.#onEnd);
    socket.once('close', () => reader.closed());
    socket.once(endpoint.tls ? 'secureConnect' : 'connect', () => {
      this.isConnected = true;
      reader.connected();
    });
  }

  /** Whether another request may be sent. */
  get isUsable(): boolean {
    return !this.duplex.destroyed && this.duplex.writable && this.isClean;
  }

  /** Whether nothing is left to read: unsolicited bytes must not be taken for the next response. */
  get isClean(): boolean {
    return !this.#hasEnded && this.input.length === 0;
  }

  /** Why the socket has closed. */
  get closeDetail(): string {
    return this.#error === null ? 'the connection was closed' : detailOf(this.#error);
  }

  readonly #onData = (bytes: Buffer): void => {
    if (!this.#onRead(bytes, bytes.length)) this.duplex.pause();
  };

  /** After a read, Node keeps its buffer if none is returned; each one that is returned costs it a look-up. */
  readonly #nextBuffer = (): Buffer => {
    const isSame = this.#hasRead && this.#buffer === this.#given;
    this.#given = this.#buffer;
    return isSame ? KEEP_BUFFER : this.#given!;
  };

  readonly #onOwnRead = (bytes: number): boolean => {
    this.#isInRead = true;
    this.#hasRead = true;
    const goesOn = this.#onRead(this.#buffer!, bytes);
    // TLS passes on all records of a read, even if the first one pauses reading; TCP reads nothing more.
    if (!goesOn && this.#isTls) this.keepLent();
    this.#isInRead = false;
    return goesOn;
  };

  /**
   * Makes the next read go elsewhere, because what was read last is still lent. Returns false outside of a read, when
   * Node has the buffer of the next one already: nothing may be read any more.
   */
  keepLent(): boolean {
    const { bytes } = this.input;
    if (bytes === this.#copied) this.#copied = Buffer.allocUnsafeSlow(WAITING_BYTES);
    else if (bytes === this.#buffer) {
      if (!this.#isInRead) return false;
      this.#buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    }
    return true;
  }

  /** Returns false to pause reading. */
  #onRead(buffer: Buffer, bytes: number): boolean {
    const copied = this.#copied;
    if (copied === null || bytes > WAITING_BYTES || this.input.length > 0) {
      this.input.add(buffer, 0, bytes);
      return this.#reader.came();
    }
    buffer.copy(copied, 0, 0, bytes);
    this.input.add(copied, 0, bytes);
    tickBatch.read(this.#reader);
    return true;
  }

  readonly #onError = (error: Error): void => {
    this.#error = error;
  };

  readonly #onEnd = (): void => {
    this.#reader.advance();
    this.#hasEnded = true;
    this.#reader.ended();
  };

  /** Hands over the raw socket for another protocol; only a plain connection has everything. */
  detach(): Duplex {
    const { duplex } = this;
    duplex.off('data', this.#onData).off('end', this.#onEnd).pause();
    unshiftBuffered(this.input, duplex);
    return duplex;
  }
}

/** Node's declared type of the function does not have it. */
const KEEP_BUFFER = undefined as unknown as Buffer;
