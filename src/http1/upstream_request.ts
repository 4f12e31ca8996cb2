import type { ExchangeLimits } from '../io/upstream_limits.ts';
import type { ForwardFailure, UpstreamRequest } from '../engine/questions.ts';
import type { DialFailure } from '../io/dial.ts';
import { firstValue, NO_FIELDS } from '../http/fields.ts';
import { INTERIM_LIMIT } from '../http/message_limits.ts';
import { canRepeat } from '../http/methods.ts';
import type { WireResponse } from './response_head.ts';
import { requestText } from './request_text.ts';
import { chunkLine, LAST_CHUNK } from './write.ts';
import type { Pool } from './upstream_pools.ts';
import type {
  Body,
  BodyFault,
  BodyTaker,
  Forwarding,
  ForwardOptions,
  ForwardTaker,
  ResponseBody,
} from '../io/ports.ts';
import type { ResponseListener } from './response_listener.ts';
import type { UpstreamConnection } from './upstream_connection.ts';

/**
 * One request to an upstream, from the connect to the last byte: the taker of the request body, and the body
 * of the response.
 */
export class Http1UpstreamRequest implements ResponseListener, Forwarding, BodyTaker, ResponseBody {
  readonly isHead: boolean;
  lengthBytes: number | null = 0;
  readonly #pool: Pool;
  readonly #request: UpstreamRequest;
  readonly #body: Body;
  readonly #options: ForwardOptions;
  readonly #taker: ForwardTaker;
  readonly #limits: ExchangeLimits;
  #text = '';
  #connection: UpstreamConnection | null = null;
  #reused = false;
  #isSent = false;
  #isAsking = false;
  #hasFlowed = false;
  #interim = 0;
  #keepAliveHint = '';
  /** The final head or the failure has been reported. */
  #isSettled = false;
  /** The response has ended. */
  #hasEnded = false;
  #responseTaker: BodyTaker | null = null;
  #fault: { readonly fault: BodyFault; readonly detail: string } | null = null;

  constructor(
    pool: Pool,
    request: UpstreamRequest,
    body: Body,
    options: ForwardOptions,
    taker: ForwardTaker,
    limits: ExchangeLimits,
  ) {
    this.isHead = request.method === 'HEAD';
    this.#pool = pool;
    this.#request = request;
    this.#body = body;
    this.#options = options;
    this.#taker = taker;
    this.#limits = limits;
  }

  start(): void {
    const { lengthBytes } = this.#body;
    const text = requestText(this.#request, lengthBytes, this.#options);
    if (text === null) {
      this.#fail('invalid', 'the request cannot be written as HTTP/1.1');
      return;
    }
    this.#text = text;
    const plain = this.#request.upgrade !== null;
    const kept = plain ? null : this.#pool.take();
    if (kept === null) this.#connection = this.#pool.open(this, this.#request);
    else {
      this.#connection = kept;
      kept.begin(this);
      this.connected();
    }
  }

  // --- the connection ----------------------------------------------------------------------------------------------

  connected(): void {
    const connection = this.#connection!;
    const { output } = connection;
    this.#reused = connection.uses++ > 0;
    output.text(this.#text);
    if (this.#body.lengthBytes === 0) {
      this.#isSent = true;
      output.flush();
      connection.expect(this.#limits.headMs);
    } else if (this.#options.expectsContinue) {
      this.#isAsking = true;
      output.flush();
      connection.expect(this.#limits.continueMs);
    } else this.#flowBody();
  }

  connectFailed(failure: DialFailure, detail: string): void {
    this.#connection = null;
    this.#fail(failure, detail);
  }

  headReceived(head: WireResponse): boolean {
    if (head.status < 200) return this.#interimHead(head);
    this.#isSettled = true;
    this.#keepAliveHint = head.keepAliveHint;
    this.lengthBytes = this.#hasEnded && !this.isHead ? 0 : head.lengthBytes;
    this.#taker.answered({ status: head.status, headers: head.headers }, this.#reused, this);
    return this.#connection !== null;
  }

  ended(keepAlive: boolean): void {
    const connection = this.#connection!;
    this.#connection = null;
    this.#hasEnded = true;
    // A connection with an upload still in flight cannot be reused.
    if (keepAlive && this.#isSent) this.#pool.give(connection, this.#keepAliveHint);
    else connection.drop();
  }

  overdue(): boolean {
    if (!this.#isAsking) return false;
    // The upstream may not support Expect (RFC 9110 §10.1.1), so the client must not wait forever.
    this.#flowBody();
    return true;
  }

  broken(failure: 'reset' | 'timeout' | 'invalid', detail: string): void {
    const connection = this.#connection;
    this.#connection = null;
    connection?.drop();
    if (this.#isSettled) {
      this.#fault = { fault: failure === 'timeout' ? 'timeout' : 'left', detail };
      return;
    }
    // A kept connection may have been closed while the request was on its way; an idempotent request is
    // retried once (RFC 9112 §9.3.1).
    const isStale =
      failure === 'reset' && this.#reused && this.#interim === 0 && connection?.isAnswering === false;
    const mayRepeat = canRepeat(this.#request.method, this.#body.lengthBytes);
    if (!isStale || !mayRepeat) {
      const isUnanswered = failure === 'reset' && this.#interim === 0 && connection?.isAnswering === false;
      this.#fail(failure, detail, mayRepeat && isUnanswered);
      return;
    }
    this.#isSent = false;
    this.#connection = this.#pool.open(this, this.#request);
  }

  flushed(): void {
    if (this.#isSent || !this.#hasFlowed) return;
    this.#connection?.expect(0);
    this.#body.resume();
  }

  // --- the body of the request -------------------------------------------------------------------------------------

  take(bytes: Uint8Array): void {
    const output = this.#connection?.output;
    if (output === undefined || this.#hasEnded) return;
    if (this.#body.lengthBytes !== null) output.piece(bytes);
    else {
      output.text(chunkLine(bytes.length));
      output.piece(bytes);
      output.text('\r\n');
    }
  }

  rest(): boolean {
    const connection = this.#connection;
    if (connection === null || this.#hasEnded) return true;
    const goesOn = connection.output.flush();
    // Time in which the upstream reads nothing counts against it; time in which the client sends nothing does
    // not.
    if (!this.#isSettled) connection.expect(goesOn ? 0 : this.#limits.headMs);
    return goesOn;
  }

  end(): boolean {
    const connection = this.#connection;
    if (connection === null || this.#hasEnded) return true;
    this.#isSent = true;
    // Request trailers are dropped: it is unknown whether the upstream accepts any (RFC 9110 §6.5.1).
    if (this.#body.lengthBytes === null) connection.output.text(LAST_CHUNK);
    const isFree = connection.output.flush();
    if (!this.#isSettled) connection.expect(this.#limits.headMs);
    return isFree;
  }

  fail(_fault: BodyFault, detail: string): void {
    const connection = this.#connection;
    if (connection === null) return;
    this.#connection = null;
    connection.drop();
    if (!this.#isSettled) this.#fail('cancelled', detail);
    else this.#responseTaker?.fail('left', detail);
  }

  // --- the body of the response ------------------------------------------------------------------------------------

  flow(taker: BodyTaker): void {
    this.#responseTaker = taker;
    if (this.#hasEnded) taker.end(NO_FIELDS);
    else if (this.#connection !== null) this.#connection.flow(taker);
    else taker.fail(this.#fault?.fault ?? 'left', this.#fault?.detail ?? 'the connection was closed');
  }

  resume(): void {
    this.#connection?.resume();
  }

  cancel(): void {
    this.#isSettled = true;
    const connection = this.#connection;
    this.#connection = null;
    connection?.drop();
  }

  // -----------------------------------------------------------------------------------------------------------------

  #flowBody(): void {
    this.#isAsking = false;
    this.#hasFlowed = true;
    this.#connection!.expect(0);
    this.#body.flow(this);
    // The head does not wait for a client that has no data yet.
    if (!this.#isSent) this.rest();
  }

  #interimHead(head: WireResponse): boolean {
    const { status } = head;
    const { upgrade } = this.#request;
    // RFC 9110 §7.8: to a protocol of the request only. Requests within another HTTP version would bypass the edge.
    const protocol = firstValue(head.headers, 'upgrade')?.toLowerCase();
    if (status === 101 && upgrade !== null && head.switches && protocol === upgrade)
      return this.#switch(head);
    if (status === 101)
      this.broken('invalid', 'the upstream switches to a protocol that the request did not ask for');
    else if (++this.#interim > INTERIM_LIMIT)
      this.broken('invalid', 'the upstream sends too many interim responses');
    else if (status === 100) {
      if (this.#isAsking) this.#flowBody();
    } else this.#taker.interim({ status, headers: head.headers });
    return this.#connection !== null;
  }

  #switch(head: WireResponse): boolean {
    const duplex = this.#connection!.detach();
    this.#connection = null;
    this.#isSettled = true;
    const protocol = firstValue(head.headers, 'upgrade') ?? this.#request.upgrade ?? '';
    this.#taker.switched({ status: 101, headers: head.headers }, this.#reused, { duplex, protocol });
    return false;
  }

  #fail(failure: ForwardFailure, detail: string, isRepeatable = false): void {
    this.#isSettled = true;
    this.#taker.failed(failure, detail, isRepeatable);
  }
}
