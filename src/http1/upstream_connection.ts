import type { Duplex } from 'node:stream';
import type { UpstreamRequest } from '../engine/questions.ts';
import { NO_FIELDS } from '../http/fields.ts';
import { BodyDecoder, DATA, END } from './body_decoder.ts';
import { MORE, REFUSED } from './fields.ts';
import type { ReadBuffer } from '../io/read_buffer.ts';
import type { WireLimits } from '../http/message_limits.ts';
import { ResponseReader, type WireResponse } from './response_head.ts';
import type { Deadline, Deadlines } from '../io/deadlines.ts';
import { dialFailure, type StaticEndpoint } from '../io/dial.ts';
import type { ResponseListener } from './response_listener.ts';
import { type SocketLimits, type SocketReader, UpstreamSocket } from './upstream_socket.ts';
import { WriteBuffer } from '../io/write_buffer.ts';
import type { BodyFault, BodyTaker } from '../io/ports.ts';

export interface ConnectionLimits extends SocketLimits {
  readonly wire: WireLimits;
  readonly bodyIdleMs: number;
  /** They watch all open connections. */
  readonly deadlines: Deadlines<UpstreamConnection>;
}

/** A connection to an upstream, for one exchange at a time. */
export class UpstreamConnection implements Deadline, SocketReader {
  deadline = 0;
  slot = -1;
  /** Number of requests that were started on it. */
  uses = 0;
  readonly socket: Duplex;
  readonly output: WriteBuffer;
  readonly #limits: ConnectionLimits;
  readonly #onClosed: (connection: UpstreamConnection) => void;
  readonly #raw: UpstreamSocket;
  readonly #input: ReadBuffer;
  readonly #reader: ResponseReader;
  readonly #decoder: BodyDecoder;
  #exchange: ResponseListener | null;
  #head: WireResponse | null = null;
  #taker: BodyTaker | null = null;
  #isReading = false;
  /** The taker has paused; nothing is read. */
  #isPaused = false;

  constructor(
    endpoint: StaticEndpoint,
    limits: ConnectionLimits,
    request: Pick<UpstreamRequest, 'upgrade' | 'connection'>,
    exchange: ResponseListener,
    onClosed: (connection: UpstreamConnection) => void,
  ) {
    this.#limits = limits;
    this.#exchange = exchange;
    this.#onClosed = onClosed;
    this.#reader = new ResponseReader(limits.wire);
    this.#decoder = new BodyDecoder(limits.wire);
    this.#raw = new UpstreamSocket(endpoint, limits, request, this);
    this.#input = this.#raw.input;
    this.socket = this.#raw.duplex;
    this.output = new WriteBuffer(this.socket, this);
    limits.deadlines.watch(this, limits.connectMs);
  }

  connected(): void {
    this.deadline = 0;
    this.#exchange?.connected();
  }

  get isUsable(): boolean {
    return this.#raw.isUsable;
  }

  flushed(): void {
    this.#exchange?.flushed();
  }

  /** Starts another exchange on a kept connection. */
  begin(exchange: ResponseListener): void {
    this.#exchange = exchange;
    this.deadline = 0;
  }

  /** Gives the upstream `ms`; without an exchange it is the lifetime of the idle connection. */
  expect(ms: number): void {
    this.deadline = this.#limits.deadlines.after(ms);
  }

  /** Starts the flow of the response content. */
  flow(taker: BodyTaker): void {
    this.#taker = taker;
    if (!this.#isReading) this.resume();
  }

  resume(): void {
    if (this.#taker === null || this.#isReading) return;
    this.#isPaused = false;
    this.deadline = this.#limits.deadlines.after(this.#limits.bodyIdleMs);
    // What was read before is still in the buffer.
    if (this.came()) this.socket.resume();
  }

  /** Closes the connection. */
  drop(): void {
    this.#exchange = null;
    this.#taker = null;
    this.socket.destroy();
  }

  expire(): void {
    const exchange = this.#exchange;
    if (exchange === null) this.socket.destroy();
    else if (!this.#raw.isConnected) this.#connectFailed(`no connection within ${this.#limits.connectMs} ms`);
    else if (this.#head === null) {
      if (!exchange.overdue()) exchange.broken('timeout', 'the response head did not arrive in time');
    } else this.#failContent('timeout', `no content arrived for ${this.#limits.bodyIdleMs} ms`);
  }

  #connectFailed(detail: string): void {
    const exchange = this.#exchange;
    this.drop();
    exchange?.connectFailed(dialFailure(this.socket), detail);
  }

  advance(): void {
    if (this.#input.length > 0 && !this.came()) this.socket.pause();
  }

  /** Processes buffered bytes as far as the taker allows. False: reading must pause. */
  came(): boolean {
    if (this.#exchange === null) {
      // Unsolicited bytes must not be taken for the next response.
      this.socket.destroy();
      return true;
    }
    this.#isReading = true;
    const goesOn = this.#readOn();
    this.#isReading = false;
    return goesOn;
  }

  #readOn(): boolean {
    const input = this.#input;
    while (this.#head === null) {
      if (input.from === input.to) return true;
      const read = this.#reader.read(input.bytes, input.from, input.to, this.#exchange!.isHead);
      if (read === MORE) {
        input.keep();
        return true;
      }
      if (read === REFUSED) {
        this.#exchange!.broken('invalid', this.#reader.problem.detail);
        return true;
      }
      input.from = this.#reader.end;
      if (!this.#takeHead(this.#reader.head!)) return true;
    }
    return this.#readContent();
  }

  /** False: the exchange needs no more from this connection. */
  #takeHead(head: WireResponse): boolean {
    const exchange = this.#exchange!;
    if (head.status < 200) return exchange.headReceived(head);
    this.deadline = 0;
    this.#head = head;
    this.#decoder.begin(head.framing);
    if (head.framing === 0) {
      // There is no content, so the connection is free before the head is processed.
      this.#finish(exchange);
      exchange.headReceived(head);
      return false;
    }
    return exchange.headReceived(head);
  }

  #readContent(): boolean {
    const input = this.#input;
    const decoder = this.#decoder;
    const taker = this.#taker;
    if (taker === null) return false; // paused until the flow starts
    for (;;) {
      const found = decoder.next(input.bytes, input.from, input.to);
      input.from = decoder.at;
      if (found === DATA) taker.take(input.bytes.subarray(decoder.dataFrom, decoder.dataTo));
      else if (found === END) {
        const exchange = this.#exchange!;
        const { trailers } = decoder;
        this.#finish(exchange);
        if (!taker.end(trailers) && !this.#raw.keepLent()) this.socket.destroy();
        return true;
      } else if (found === MORE) break;
      else {
        this.#failContent('malformed', decoder.problem.detail);
        return true;
      }
      if (this.#taker !== taker) return true; // cancelled meanwhile
    }
    this.#isPaused = !taker.rest();
    if (this.#taker === taker) {
      this.deadline = this.#isPaused ? 0 : this.#limits.deadlines.after(this.#limits.bodyIdleMs);
    }
    return !this.#isPaused;
  }

  /** The response is complete: the exchange is over, and the connection may be reused. */
  #finish(exchange: ResponseListener): void {
    const { keepAlive } = this.#head!;
    const isClean = this.#raw.isClean && !this.output.isWaiting;
    this.#exchange = null;
    this.#head = null;
    this.#taker = null;
    this.deadline = 0;
    // TLS passes on all records of a read: the end may come after the taker has paused, and nothing would resume.
    if (this.#isPaused) this.socket.resume();
    this.#isPaused = false;
    exchange.ended(keepAlive && isClean);
  }

  #failContent(fault: BodyFault, detail: string): void {
    const taker = this.#taker;
    const exchange = this.#exchange;
    if (taker === null) exchange?.broken('reset', detail);
    else {
      this.drop();
      taker.fail(fault, detail);
    }
  }

  ended(): void {
    const taker = this.#taker;
    if (taker !== null && this.#decoder.endsByClose()) {
      this.#finish(this.#exchange!);
      taker.end(NO_FIELDS);
    } else if (this.socket.allowHalfOpen) this.socket.destroy(); // Of other sockets 'close' follows.
  }

  closed(): void {
    this.advance();
    this.#limits.deadlines.forget(this);
    this.#onClosed(this);
    const exchange = this.#exchange;
    if (exchange === null) return;
    const detail = this.#raw.closeDetail;
    if (!this.#raw.isConnected) this.#connectFailed(detail);
    else if (this.#head === null) exchange.broken('reset', detail);
    else this.#failContent('left', detail);
  }

  /** Whether bytes of the response have arrived. */
  get isAnswering(): boolean {
    return this.#head !== null || this.#input.length > 0;
  }

  /** Hands over the raw socket for another protocol; only a plain connection has everything. */
  detach(): Duplex {
    this.output.settle();
    this.#exchange = null;
    this.#taker = null;
    this.deadline = 0;
    return this.#raw.detach();
  }
}
