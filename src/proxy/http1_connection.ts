import type { Socket } from 'node:net';
import type { Due } from '../answers/deadlines.ts';
import { giveBack } from '../answers/give_back.ts';
import { Outbox } from '../answers/outbox.ts';
import { type Reading, turn, WAITING_BYTES } from '../answers/turn.ts';
import { CHUNKED } from '../wire/framing.ts';
import { ContentReader } from '../wire/content.ts';
import { MORE, REFUSED } from '../wire/fields.ts';
import { Inbox } from '../wire/inbox.ts';
import { RequestReader, type WireRequest } from '../wire/request_head.ts';
import { drive } from './drive.ts';
import { Http1Body } from './http1_body.ts';
import { endGently, refusalText } from './http1_refusal.ts';
import { attach, detach, forget } from './http1_socket.ts';
import type { Service } from './http1_service.ts';
import { Http1Sink } from './http1_sink.ts';
import { LATE, LEFT_IN_HEAD, type Refusal, type UnderWay, rawRequest, refused } from './http1_under_way.ts';
import { mayUpgrade } from './http1_upgrade.ts';
import { beginsHttp2 } from './http2_preface.ts';
import type { ConnectionFacts } from './port.ts';

/**
 * One client's connection: reads its requests and has them served one after the other, in the order they came, so
 * that an unsafe one never runs beside another (RFC 9112 §9.3.2).
 */
export class Http1Connection implements Due, Reading {
  deadline = 0;
  readonly socket: Socket;
  readonly outbox: Outbox;
  readonly facts: ConnectionFacts;
  readonly writeIdleMs: number;
  readonly #service: Service;
  readonly #inbox = new Inbox();
  readonly #reader: RequestReader;
  /** Made for the first request that has content. */
  #content: ContentReader | null = null;
  #underWay: UnderWay | null = null;
  #isAdvancing = false;
  #isPaused = false;
  /** No further request is taken. */
  #isClosing = false;
  /** What comes is not looked at any more. */
  #isDeaf = false;
  #isWithin = false; // a head has begun and is not whole
  #isFirst = true; // no request has come yet
  /** The rest of a body that nobody wants is read. */
  #isDiscarding = false;
  #isTakenOver = false;
  /** When the request that is being read must be there as a whole. */
  #requestDeadline = 0;

  constructor(service: Service, socket: Socket, facts: ConnectionFacts) {
    this.#service = service;
    this.socket = socket;
    this.facts = facts;
    this.writeIdleMs = service.limits.writeIdleMs;
    this.outbox = new Outbox(socket, this);
    this.#reader = new RequestReader(service.wire);
    service.deadlines.watch(this, service.limits.headMs);
    attach(socket, this);
  }

  flushed(): void {
    this.#underWay?.sink.flushed();
  }

  get isIdle(): boolean {
    return this.#underWay === null && this.#inbox.length === 0;
  }

  came(bytes: Buffer): void {
    if (this.#isDeaf) return;
    this.#inbox.add(bytes);
    if (bytes.length > WAITING_BYTES) this.advance();
    else turn.read(this);
  }

  /** Goes as far as there are bytes, and as whoever takes the body lets it. */
  advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#step());
    this.#isAdvancing = false;
    // A connection that waits for its next request holds nothing of the last one.
    if (this.#inbox.length === 0) this.#inbox.clear();
    this.#listen();
  }

  /** False when there is nothing to go on with. */
  #step(): boolean {
    const underWay = this.#underWay;
    if (underWay !== null) {
      if (underWay.body.isFlowing) this.#readContent(underWay);
      this.#conclude(underWay);
      return this.#underWay !== underWay;
    }
    const inbox = this.#inbox;
    if (this.#isDeaf || inbox.from === inbox.to) return false;
    const read = this.#reader.read(inbox.bytes, inbox.from, inbox.to);
    if (read === MORE) {
      if (this.#reader.isWithin && !this.#isWithin) this.#beginHead();
      this.#isWithin = this.#reader.isWithin;
      return false;
    }
    this.#isWithin = false;
    if (read === REFUSED) {
      if (!this.#turnsToHttp2()) this.#refuse(this.#reader.problem);
      return false;
    }
    inbox.from = this.#reader.end;
    this.#isFirst = false;
    this.#serve(this.#reader.takeHead());
    return true;
  }

  #beginHead(): void {
    const { deadlines, limits } = this.#service;
    this.deadline = deadlines.after(Math.min(limits.headMs, limits.requestMs || limits.headMs));
    this.#requestDeadline = deadlines.after(limits.requestMs);
  }

  /** Reads from the socket as long as what comes is taken, and no more ahead than may be. */
  #listen(): void {
    if (this.#isTakenOver) return;
    const underWay = this.#underWay;
    const isAhead = this.#inbox.length > this.#service.limits.aheadBytes;
    const pauses = !this.#isDeaf && underWay !== null && (isAhead || underWay.body.isPaused);
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    if (pauses) this.socket.pause();
    else this.socket.resume();
  }

  #serve(head: WireRequest): void {
    const { plane, hands, deadlines, limits } = this.#service;
    const upgradable = !this.#service.draining && mayUpgrade(head);
    if (!head.keepAlive || upgradable) this.#isClosing = true;
    const body = new Http1Body(this, head.lengthBytes, head.expectsContinue);
    const sink = new Http1Sink(this, head.method, head.version, head.takesTrailers);
    const underWay: UnderWay = { body, sink, head, upgradable, isAnswered: false };
    if (head.lengthBytes !== 0) {
      this.#content ??= new ContentReader(this.#service.wire);
      this.#content.begin(head.lengthBytes ?? CHUNKED);
      if (this.#requestDeadline === 0) this.#requestDeadline = deadlines.after(limits.requestMs);
    }
    this.deadline = 0;
    this.#underWay = underWay;
    this.#service.underWay++;
    const incoming = { raw: rawRequest(head, this.facts), body, reply: sink, upgradable };
    drive(incoming, plane, hands, () => this.#answered(underWay));
  }

  #answered(underWay: UnderWay): void {
    underWay.isAnswered = true;
    this.#service.over();
    if (!this.#isAdvancing) this.advance();
  }

  /** What is left to do when the driver is done: the rest of a body, the next request, or the end. */
  #conclude(underWay: UnderWay): void {
    if (!underWay.isAnswered || this.#underWay !== underWay) return;
    const { body, sink } = underWay;
    if (sink.gone || this.#isTakenOver || this.socket.destroyed) {
      this.#isDeaf = true;
      this.#underWay = null;
      return;
    }
    if (this.#isClosing || sink.isUntilClose || this.#isDrained) {
      this.#underWay = null;
      this.#closeGently();
    } else if (body.isOver) {
      this.#underWay = null;
      this.#isDiscarding = false;
      this.#requestDeadline = 0;
      this.deadline = this.#service.deadlines.after(this.#service.limits.keepAliveMs);
    } else if (!this.#isDiscarding) {
      this.#isDiscarding = true;
      body.discard();
      this.deadline = this.#service.deadlines.after(this.#service.limits.lingerMs);
      this.#readContent(underWay);
      this.#conclude(underWay);
    }
  }

  get #isDrained(): boolean {
    return this.#service.draining && this.#inbox.length === 0;
  }

  wanted(): void {
    // What came with the head goes on with it, in one write.
    if (this.#isAdvancing && this.#underWay?.body.isFlowing === true) this.#readContent(this.#underWay);
    else this.advance();
  }

  sayContinue(): void {
    if (this.#inbox.length === 0) this.#underWay?.sink.sayContinue(); // who sends without waiting needs no word
  }

  #readContent({ body }: UnderWay): void {
    const came = body.readFrom(this.#inbox, this.#content!);
    if (came === 'ended') this.deadline = 0;
    if (came === 'broken') {
      const { code, detail } = this.#content!.problem;
      this.#spoil();
      body.fail(code, detail);
    }
    if (came !== 'more' || this.#isDiscarding) return;
    const idle = this.#service.deadlines.after(this.#service.limits.bodyIdleMs);
    const soonest = this.#requestDeadline > 0 ? Math.min(idle, this.#requestDeadline) : idle;
    this.deadline = body.isPaused ? 0 : soonest; // only waiting counts, not what whoever takes the body takes
  }

  /** Where the next request begins cannot be known any more. */
  #spoil(): void {
    this.#isClosing = true;
    this.#isDeaf = true;
    this.#inbox.clear();
    this.deadline = 0;
  }

  isLast(): boolean {
    const underWay = this.#underWay;
    if (underWay === null) return true;
    // A client that was not told to send its body may send it or not: nobody knows what comes next.
    if (underWay.body.awaitsContinue || underWay.body.fault !== null) this.#isClosing = true;
    return this.#isClosing || this.#isDrained;
  }

  takeOver(): Socket | null {
    return this.#underWay?.upgradable === true ? this.#detach() : null;
  }

  /** Lets go of the socket, with all that was read ahead. */
  #detach(): Socket {
    this.#isTakenOver = true;
    this.#isDeaf = true;
    detach(this.socket).pause();
    giveBack(this.#inbox, this.socket);
    return this.socket;
  }

  /** RFC 9113 §3.3: a client that knows may begin with the preface of HTTP/2, which no reader of HTTP/1.1 takes. */
  #turnsToHttp2(): boolean {
    const { http2, deadlines } = this.#service;
    if (http2 === null || this.facts.tls !== null || !this.#isFirst || !beginsHttp2(this.#inbox))
      return false;
    const socket = forget(this.#detach());
    deadlines.forget(this);
    this.#service.closed(this);
    http2(socket, this.facts);
    return true;
  }

  #refuse(why: Refusal): void {
    this.#spoil();
    this.outbox.text(refusalText(refused(this.#service.plane, why, this.#reader.partial, this.facts)));
    this.outbox.flush();
    this.#closeGently();
  }

  expire(): void {
    const underWay = this.#underWay;
    if (underWay !== null && !underWay.isAnswered) {
      this.#spoil();
      underWay.body.fail('timeout', 'the request body did not arrive in time');
    } else if (underWay === null && this.#isWithin && !this.#isDeaf) this.#refuse(LATE);
    else this.socket.destroy();
  }

  /** Ends the connection so that the client can read what was sent before it learns of the end. */
  #closeGently(): void {
    this.#spoil();
    if (!endGently(this.socket, this.outbox)) return;
    this.#isPaused = false;
    this.deadline = this.#service.deadlines.after(this.#service.limits.lingerMs);
  }

  cameToEnd(): void {
    this.advance();
    this.outbox.settle();
    if (this.#underWay !== null) this.socket.destroy(); // a client that half-closes while it waits has left
    else if (this.#isWithin && !this.#isDeaf) this.#refuse(LEFT_IN_HEAD);
    else this.#isDeaf = true;
  }

  closed(): void {
    this.advance();
    const { plane, deadlines } = this.#service;
    deadlines.forget(this);
    if (this.#isWithin && !this.#isDeaf) refused(plane, LEFT_IN_HEAD, this.#reader.partial, this.facts);
    this.#isDeaf = true;
    if (this.#underWay !== null && !this.#isTakenOver) {
      const { body, sink } = this.#underWay;
      const onGone = sink.markGone();
      body.fail('left', 'the client left in the middle of its request body');
      onGone();
    }
    this.#service.closed(this);
  }
}
