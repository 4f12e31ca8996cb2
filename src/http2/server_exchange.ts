import { constants, type ServerHttp2Stream } from 'node:http2';
import { contain, isStreamOver, resetStream, respond, within } from '../io/containment.ts';
import type { Deadlines, Deadline } from '../io/deadlines.ts';
import { secretBytes } from '../crypto/random.ts';
import type { FieldList } from '../http/fields.ts';
import { drive } from '../engine/drivers/live.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import { type BodyExchange, Http2Body } from './server_body.ts';
import { type Http2Refusal, readHttp2Head } from './request_head.ts';
import { HTTP2_HEAD } from './limits.ts';
import { Http2Sink, type SinkExchange } from './server_sink.ts';
import type { ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';
import { contentOf } from '../engine/drivers/reply_content.ts';

/** State shared by all streams of all connections. */
export interface Http2Shared {
  readonly exchanges: ExchangePort;
  readonly clients: Clients;
  readonly limits: ListenerLimits;
  readonly deadlines: Deadlines;
  begun(): void;
  over(): void;
}

/** A stream with one request: creates its body and its sink, starts the driver, and watches deadlines. */
export class Http2Exchange implements Deadline, BodyExchange, SinkExchange {
  deadline = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #facts: ConnectionFacts;
  readonly #shared: Http2Shared;
  #body: Http2Body | null = null;
  #sink: Http2Sink | null = null;
  #hasBegun = false;
  #isDriven = false;
  #isTunnel = false;
  /** We have reset it. */
  #hasReset = false;
  readonly #onReset: () => void;

  /** `onReset` is called when the client resets the stream before the end of the response. */
  constructor(
    stream: ServerHttp2Stream,
    facts: ConnectionFacts,
    shared: Http2Shared,
    onReset: () => void = () => undefined,
  ) {
    this.#stream = stream;
    this.#facts = facts;
    this.#shared = shared;
    this.#onReset = onReset;
  }

  begin(raw: FieldList, hasEnded: boolean): void {
    const stream = this.#stream;
    const { exchanges, clients, deadlines } = this.#shared;
    contain(stream).on('error', () => undefined); // `close` follows
    stream.once('aborted', this.#onAborted);
    // A fast client may have reset it before listeners were added.
    if (isStreamOver(stream)) this.#onAborted();
    const scheme = this.#facts.tls === null ? 'http' : 'https';
    const read = readHttp2Head(raw, scheme, hasEnded, HTTP2_HEAD, newKey);
    if ('detail' in read) {
      this.#refuse(read);
      return;
    }
    const { head, lengthBytes, expectsContinue, takesTrailers, isTunnel } = read;
    this.#isTunnel = isTunnel;
    this.#body = new Http2Body(stream, this, lengthBytes, expectsContinue);
    this.#sink = new Http2Sink(stream, this, head.method, {
      takesTrailers,
      isTunnel,
      nowMs: exchanges.nowMs,
    });
    stream.once('close', this.#onClose);
    deadlines.watch(this);
    this.#shared.begun();
    drive(
      {
        raw: { head, connection: this.#facts, startMs: exchanges.nowMs() },
        body: this.#body,
        reply: this.#sink,
        upgradable: isTunnel,
      },
      exchanges,
      clients,
      this.#onDriven,
    );
  }

  sendContinue(): void {
    this.#sink?.sendContinue();
  }

  waits(isWaiting: boolean): void {
    if (this.#hasBegun) return;
    this.deadline = isWaiting ? this.#shared.deadlines.after(this.#shared.limits.bodyIdleMs) : 0;
  }

  begun(): void {
    this.#hasBegun = true;
    this.deadline = 0;
  }

  stalls(isStalling: boolean): void {
    if (this.#isDriven) return;
    this.deadline = isStalling ? this.#shared.deadlines.after(this.#shared.limits.writeIdleMs) : 0;
  }

  expire(): void {
    const stream = this.#stream;
    // A stream that its client has reset may still hold data that the client does not read.
    if (stream.closed || this.#isDriven || this.#body === null) stream.destroy();
    else if (this.#hasBegun) {
      this.#hasReset = true;
      resetStream(stream, constants.NGHTTP2_CANCEL);
      // Data that waits for the client's window keeps the stream open.
      this.deadline = this.#shared.deadlines.after(this.#shared.limits.lingerMs);
    } else this.#body?.fail('timeout', 'the request body did not arrive in time');
  }

  readonly #onDriven = (): void => {
    this.#shared.over();
    const body = this.#body!;
    const stream = this.#stream;
    if (stream.destroyed) return;
    // A stream that was reset with queued data would stay open, and its connection, too.
    this.#isDriven = true;
    this.deadline = this.#shared.deadlines.after(this.#shared.limits.lingerMs);
    // RFC 9113 §8.1: the response is complete, so the rest of the request is not needed. A tunnel has no such
    // end.
    if ((body.isWhole && !this.#isTunnel) || stream.closed) return;
    body.discard();
    resetStream(stream, constants.NGHTTP2_NO_ERROR);
  };

  /**
   * If a client resets a paused stream with NO_ERROR, Node leaves the stream open, and its session reads
   * nothing more, not even the close of the connection. Our own resets are sent before the next tick.
   */
  readonly #onAborted = (): void => {
    // A tunnel that ends may have been closed by its other side.
    if (!this.#hasReset && !this.#isTunnel && this.#sink?.isCut !== true) this.#onReset();
    setImmediate(() => within(this.#stream, () => void this.#stream.destroy()));
  };

  readonly #onClose = (): void => {
    this.deadline = 0;
    this.#shared.deadlines.forget(this);
    const notifyGone = this.#sink!.markGone();
    this.#body!.fail('left', 'the client left in the middle of its request body');
    notifyGone();
  };

  /** A head that is refused before an exchange starts; it still has its event. */
  #refuse(refusal: Http2Refusal): void {
    const reply = this.#shared.exchanges.refuse({ ...refusal, connection: this.#facts });
    const stream = this.#stream;
    if (isStreamOver(stream)) return;
    // A timer of the stream would end with its reset, and a client that reads nothing would hold the
    // connection.
    const { deadlines, limits } = this.#shared;
    deadlines.watch(this, limits.writeIdleMs);
    stream.once('close', () => deadlines.forget(this));
    const bytes = contentOf(reply);
    const length = ['content-length', `${bytes.length}`];
    if (!respond(stream, [':status', String(reply.status), ...reply.headers, ...length])) return;
    stream.end(bytes, () => {
      resetStream(stream, constants.NGHTTP2_NO_ERROR);
    });
  }
}

/** RFC 6455 §4.1: 16 random bytes. */
function newKey(): string {
  return Buffer.from(secretBytes(16)).toString('base64');
}
