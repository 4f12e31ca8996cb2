import type { Socket } from 'node:net';
import { endGently, WriteBuffer } from '../io/write_buffer.ts';
import { attach, detach, forget } from '../io/socket_owner.ts';
import { type Reading, tickBatch, WAITING_BYTES } from '../io/tick_batch.ts';
import { MORE, REFUSED } from './fields.ts';
import { type WireRequest, mayUpgrade } from './request_head.ts';
import { drive } from '../engine/drivers/live.ts';
import { Http1Body } from './server_body.ts';
import { Http1Input } from './server_input.ts';
import { LATE, LEFT_IN_HEAD, type Refusal, refusalText, refused } from './server_refusal.ts';
import type { Served, Service } from './server.ts';
import { Http1Sink } from './server_sink.ts';
import { type InFlight, rawRequest } from './in_flight.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';

/** Reads and serves requests of a connection in order: an unsafe one never runs beside another (RFC 9112 §9.3.2). */
export class Http1Connection implements Served, Reading {
  deadline = 0;
  slot = -1;
  readonly socket: Socket;
  readonly output: WriteBuffer;
  readonly facts: ConnectionFacts;
  readonly writeIdleMs: number;
  readonly nowMs: () => number;
  readonly #service: Service;
  readonly #input: Http1Input;
  #inFlight: InFlight | null = null;
  #isAdvancing = false;
  #isPaused = false;
  #isLending = false; // bytes of the last read may still be in use
  #isClosing = false; // no further request is accepted
  #ignoresInput = false; // input is ignored
  #isDiscarding = false; // the rest of an unwanted body is read and discarded
  #isTakenOver = false;
  #requestDeadline = 0; // for the whole request that is being read

  constructor(service: Service, socket: Socket, facts: ConnectionFacts) {
    this.#service = service;
    this.socket = socket;
    this.facts = facts;
    this.writeIdleMs = service.limits.writeIdleMs;
    this.nowMs = service.exchanges.nowMs;
    this.output = new WriteBuffer(socket, this);
    this.#input = new Http1Input(service.wire);
  }

  /** Serves the connection from now on. */
  begin(): void {
    this.#service.deadlines.watch(this, this.#service.limits.headMs);
    attach(this.socket, this);
  }

  flushed(): void {
    this.#inFlight?.sink.flushed();
  }

  get isIdle(): boolean {
    return this.#inFlight === null && this.#input.length === 0;
  }

  came(bytes: Buffer, from: number, to: number, isShared: boolean): boolean {
    if (this.#ignoresInput) return true;
    this.#input.add(bytes, from, to, isShared);
    if (to - from <= WAITING_BYTES) {
      tickBatch.read(this);
      return false;
    }
    this.#isLending = false;
    this.advance();
    return this.#input.length === 0 && !this.#isLending;
  }

  /** Processes buffered bytes as far as the taker of the body allows. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#step());
    this.#isAdvancing = false;
    this.#input.leaveShared(); // an idle connection keeps nothing of its last request
    this.#listen();
  }

  /** Makes one step; false when nothing can be done now. */
  #step(): boolean {
    const inFlight = this.#inFlight;
    if (inFlight !== null) {
      if (inFlight.body.isFlowing) this.#readContent(inFlight);
      this.#conclude(inFlight);
      return this.#inFlight !== inFlight;
    }
    const input = this.#input;
    if (this.#ignoresInput || input.length === 0) return false;
    const wasWithin = input.isWithinHead;
    const read = input.readHead();
    if (read === MORE) {
      if (input.isWithinHead && !wasWithin) this.#beginHead();
      return false;
    }
    if (read === REFUSED) {
      if (!this.#turnsToHttp2()) this.#refuse(input.problem);
      return false;
    }
    this.#serve(input.takeHead());
    return true;
  }

  #beginHead(): void {
    const { deadlines, limits } = this.#service;
    this.deadline = deadlines.after(Math.min(limits.headMs, limits.requestMs || limits.headMs));
    this.#requestDeadline = deadlines.after(limits.requestMs);
  }

  /** Reads from the socket while data is taken, and no further ahead than allowed. */
  #listen(): void {
    if (this.#isTakenOver) return;
    const inFlight = this.#inFlight;
    const isAhead = this.#input.length > this.#service.limits.aheadBytes;
    const pauses = !this.#ignoresInput && inFlight !== null && (isAhead || inFlight.body.isPaused);
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    if (pauses) this.socket.pause();
    else this.socket.resume();
  }

  #serve(head: WireRequest): void {
    const { exchanges, clients, deadlines, limits } = this.#service;
    const upgradable = !this.#service.draining && mayUpgrade(head);
    if (!head.keepAlive || upgradable) this.#isClosing = true;
    const body = new Http1Body(this, head.lengthBytes, head.expectsContinue);
    const sink = new Http1Sink(this, head.method, head.version, head.takesTrailers);
    const inFlight: InFlight = { body, sink, head, upgradable, isAnswered: false };
    if (head.lengthBytes !== 0) {
      this.#input.beginContent(head.lengthBytes);
      if (this.#requestDeadline === 0) this.#requestDeadline = deadlines.after(limits.requestMs);
    }
    this.deadline = 0;
    this.#inFlight = inFlight;
    this.#service.inFlight++;
    const raw = rawRequest(head, this.facts);
    drive({ raw, body, reply: sink, upgradable }, exchanges, clients, () => this.#answered(inFlight));
  }

  #answered(inFlight: InFlight): void {
    inFlight.isAnswered = true;
    this.#service.over();
    if (!this.#isAdvancing) this.advance();
  }

  /** Finishes after the driver: the rest of the body, the next request, or the end of the connection. */
  #conclude(inFlight: InFlight): void {
    if (!inFlight.isAnswered || this.#inFlight !== inFlight) return;
    const { body, sink } = inFlight;
    if (sink.gone || this.#isTakenOver || this.socket.destroyed) {
      this.#ignoresInput = true;
      this.#inFlight = null;
      return;
    }
    if (this.#isClosing || sink.isUntilClose || this.#isDrained) {
      this.#inFlight = null;
      this.#closeGently();
    } else if (body.isOver) {
      this.#inFlight = null;
      this.#isDiscarding = false;
      this.#requestDeadline = 0;
      this.deadline = this.#service.deadlines.after(this.#service.limits.keepAliveMs);
    } else if (!this.#isDiscarding) {
      this.#isDiscarding = true;
      body.discard();
      this.deadline = this.#service.deadlines.after(this.#service.limits.lingerMs);
      this.#readContent(inFlight);
      this.#conclude(inFlight);
    }
  }

  get #isDrained(): boolean {
    return this.#service.draining && this.#input.length === 0;
  }

  wanted(): void {
    // Content that arrived with the head is passed on with it, in one write.
    if (this.#isAdvancing && this.#inFlight?.body.isFlowing === true) this.#readContent(this.#inFlight);
    else this.advance();
  }

  sendContinue(): void {
    if (this.#input.length === 0) this.#inFlight?.sink.sendContinue(); // a client that sends without waiting needs no 100 Continue
  }

  #readContent({ body }: InFlight): void {
    const came = this.#input.readContent(body);
    if (body.isLending) this.#isLending = true;
    if (came === 'ended') this.deadline = 0;
    if (came === 'broken') {
      const { code, detail } = this.#input.contentProblem;
      this.#abandonInput();
      body.fail(code, detail);
    }
    if (came !== 'more' || this.#isDiscarding) return;
    const idle = this.#service.deadlines.after(this.#service.limits.bodyIdleMs);
    const soonest = this.#requestDeadline > 0 ? Math.min(idle, this.#requestDeadline) : idle;
    this.deadline = body.isPaused ? 0 : soonest; // only the wait for the client counts, not the time that the taker needs
  }

  /** The start of the next request can no longer be determined. */
  #abandonInput(): void {
    this.#isClosing = true;
    this.#ignoresInput = true;
    this.#input.clear();
    this.deadline = 0;
  }

  isLast(): boolean {
    const inFlight = this.#inFlight;
    if (inFlight === null) return true;
    // A client that got no 100 Continue may or may not send its body, so the next bytes are ambiguous.
    if (inFlight.body.awaitsContinue || inFlight.body.fault !== null) this.#isClosing = true;
    return this.#isClosing || this.#isDrained;
  }

  takeOver(): Socket | null {
    return this.#inFlight?.upgradable === true ? this.#detach() : null;
  }

  /** Releases the socket, with all bytes that were read ahead. */
  #detach(): Socket {
    this.#isTakenOver = true;
    this.#ignoresInput = true;
    detach(this.socket).pause();
    this.#input.unshiftTo(this.socket);
    return this.socket;
  }

  /**
   * RFC 9113 §3.3: with prior knowledge, a client may begin with HTTP/2's preface, which no HTTP/1.1 parser accepts.
   */
  #turnsToHttp2(): boolean {
    const { http2 } = this.#service;
    if (http2 === null || this.facts.tls !== null || !this.#input.beginsHttp2) return false;
    const socket = forget(this.#detach());
    this.#service.closed(this);
    http2(socket, this.facts);
    return true;
  }

  #refuse(why: Refusal): void {
    this.#abandonInput();
    const { exchanges } = this.#service;
    const { partial } = this.#input;
    const reply = refused(exchanges, why, partial, this.facts);
    this.output.text(refusalText(reply, exchanges.nowMs(), partial.method));
    this.output.flush();
    this.#closeGently();
  }

  expire(): void {
    const inFlight = this.#inFlight;
    if (inFlight !== null && !inFlight.isAnswered) {
      this.#abandonInput();
      inFlight.body.fail('timeout', 'the request body did not arrive in time');
    } else if (inFlight === null && this.#input.isWithinHead && !this.#ignoresInput) this.#refuse(LATE);
    else this.socket.destroy();
  }

  /** Closes the connection so that the client can read the response before the close. */
  #closeGently(): void {
    this.#abandonInput();
    if (!endGently(this.socket, this.output)) return;
    this.#isPaused = false;
    this.deadline = this.#service.deadlines.after(this.#service.limits.lingerMs);
  }

  peerEnded(): void {
    this.advance();
    this.output.settle();
    if (this.#inFlight !== null) this.socket.destroy(); // a client that half-closes while it waits has left
    else if (this.#input.isWithinHead && !this.#ignoresInput) this.#refuse(LEFT_IN_HEAD);
    else this.#ignoresInput = true;
  }

  closed(): void {
    this.advance();
    const { exchanges } = this.#service;
    if (this.#input.isWithinHead && !this.#ignoresInput)
      refused(exchanges, LEFT_IN_HEAD, this.#input.partial, this.facts);
    this.#ignoresInput = true;
    if (this.#inFlight !== null && !this.#isTakenOver) {
      const { body, sink } = this.#inFlight;
      const onGone = sink.markGone();
      body.fail('left', 'the client left in the middle of its request body');
      onGone();
    }
    this.#service.closed(this);
  }
}
