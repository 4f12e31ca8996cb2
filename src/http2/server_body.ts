import type { ServerHttp2Stream } from 'node:http2';
import { withoutPseudo } from './fields.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import type { BodyFault, BodyTaker, RequestBody } from '../engine/drivers/exchange_port.ts';

/** What a request body needs from its exchange. */
export interface BodyExchange {
  sendContinue(): void;
  /** It starts or stops waiting for the client. */
  waits(isWaiting: boolean): void;
}

/**
 * The content of a request on a stream. Before it flows, the stream's window limits what a client can send.
 */
export class Http2Body implements RequestBody {
  readonly lengthBytes: number | null;
  receivedBytes = 0;
  fault: BodyFault | null = null;
  awaitsContinue: boolean;
  /** It has ended or failed. */
  isOver: boolean;
  /** All of it has arrived. */
  isWhole: boolean;
  readonly #stream: ServerHttp2Stream;
  readonly #exchange: BodyExchange;
  #taker: BodyTaker | null = null;
  #trailers: FieldList = NO_FIELDS;
  #detail = '';

  constructor(
    stream: ServerHttp2Stream,
    exchange: BodyExchange,
    lengthBytes: number | null,
    awaitsContinue: boolean,
  ) {
    this.#stream = stream;
    this.#exchange = exchange;
    this.lengthBytes = lengthBytes;
    this.awaitsContinue = awaitsContinue;
    this.isOver = lengthBytes === 0;
    this.isWhole = this.isOver;
    stream.on('trailers', (_headers: unknown, _flags: number, raw?: FieldList) => {
      this.#trailers = withoutPseudo(raw ?? NO_FIELDS);
    });
  }

  flow(taker: BodyTaker): void {
    if (this.fault !== null) {
      taker.fail(this.fault, this.#detail);
      return;
    }
    this.#taker = taker;
    if (this.isOver) {
      taker.end(NO_FIELDS);
      return;
    }
    if (this.awaitsContinue) {
      this.awaitsContinue = false;
      this.#exchange.sendContinue();
    }
    this.#exchange.waits(true);
    this.#stream.on('data', this.#onData).once('end', this.#onEnd);
  }

  resume(): void {
    if (this.isOver) return;
    this.#exchange.waits(true);
    this.#stream.resume();
  }

  /** Fails the body (too slow, or the sender has left): no more will arrive. */
  fail(fault: BodyFault, detail: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.fault = fault;
    this.#detail = detail;
    this.#exchange.waits(false);
    this.#taker?.fail(fault, detail);
  }

  /** Discards the rest. A paused stream would never close, and neither would its connection. */
  discard(): void {
    this.isOver = true;
    this.#stream.off('data', this.#onData).off('end', this.#onEnd).resume();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.isOver) return;
    this.receivedBytes += bytes.length;
    this.#taker!.take(bytes);
    const goesOn = this.#taker!.rest();
    this.#exchange.waits(goesOn);
    if (!goesOn) this.#stream.pause();
  };

  readonly #onEnd = (): void => {
    // A stream that was reset ends, too; `close` reports the reset.
    if (this.isOver || this.#stream.aborted) return;
    this.isOver = true;
    this.isWhole = true;
    this.#exchange.waits(false);
    this.#taker!.end(this.#trailers);
  };
}
