import { type BodyDecoder, DATA, END } from './body_decoder.ts';
import { REFUSED } from './fields.ts';
import type { ReadBuffer } from '../io/read_buffer.ts';
import type { BodyFault, BodyTaker, RequestBody } from '../engine/drivers/exchange_port.ts';

/** What a request body needs from its connection. */
export interface BodyConnection {
  /** The body has a taker that wants data. */
  wanted(): void;
  /** Sends 100 Continue to the client. */
  sendContinue(): void;
}

/** The content of a request, on its way from the connection to its taker. */
export class Http1Body implements RequestBody {
  readonly lengthBytes: number | null;
  receivedBytes = 0;
  fault: BodyFault | null = null;
  /** Whether the client waits for 100 Continue. */
  awaitsContinue: boolean;
  /** The taker; null until there is one. */
  taker: BodyTaker | null = null;
  /** All of it has been read, or no more will arrive. */
  isOver: boolean;
  isPaused = false;
  /** The taker may still use bytes of the last `readFrom`. */
  isLending = false;
  readonly #connection: BodyConnection;
  #isReading = false;
  #detail = '';

  constructor(connection: BodyConnection, lengthBytes: number | null, awaitsContinue: boolean) {
    this.#connection = connection;
    this.lengthBytes = lengthBytes;
    this.awaitsContinue = awaitsContinue;
    this.isOver = lengthBytes === 0;
  }

  flow(taker: BodyTaker): void {
    if (this.fault !== null) {
      taker.fail(this.fault, this.#detail);
      return;
    }
    this.taker = taker;
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      this.#connection.sendContinue();
    }
    this.#connection.wanted();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.#connection.wanted();
  }

  /** Whether there is a taker that wants data. */
  get isFlowing(): boolean {
    return !this.isOver && this.taker !== null && !this.isPaused && !this.#isReading;
  }

  /** Passes on received content; `more`: all of it, and the body has not ended. */
  readFrom(input: ReadBuffer, content: BodyDecoder): 'more' | 'ended' | 'broken' {
    this.#isReading = true;
    const came = this.#read(input, content);
    this.#isReading = false;
    return came;
  }

  #read(input: ReadBuffer, content: BodyDecoder): 'more' | 'ended' | 'broken' {
    for (;;) {
      const taker = this.taker!;
      const found = content.next(input.bytes, input.from, input.to);
      input.from = content.at;
      if (found === DATA) {
        this.receivedBytes += content.dataTo - content.dataFrom;
        taker.take(input.bytes.subarray(content.dataFrom, content.dataTo));
      } else if (found === END) {
        this.isOver = true;
        this.isLending = !taker.end(content.trailers);
        return 'ended';
      } else if (found === REFUSED) return 'broken';
      else {
        this.isPaused = !this.taker!.rest();
        this.isLending = this.isPaused;
        return 'more';
      }
    }
  }

  /** Fails the body (malformed, too slow, or the sender has left): no more will arrive. */
  fail(fault: BodyFault, detail: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.fault = fault;
    this.#detail = detail;
    this.taker?.fail(fault, detail);
  }

  /** The rest is read and discarded. */
  discard(): void {
    this.awaitsContinue = false;
    this.isPaused = false;
    this.taker = DISCARDING;
  }
}

const DISCARDING: BodyTaker = {
  take: () => undefined,
  rest: () => true,
  end: () => true,
  fail: () => undefined,
};
