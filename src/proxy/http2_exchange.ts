import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Deadlines, Due } from '../answers/deadlines.ts';
import { secretBytes } from '../crypto/random.ts';
import type { Reply } from '../engine/contract.ts';
import type { FieldList } from '../http/fields.ts';
import { drive } from './drive.ts';
import type { Hands } from './hands.ts';
import { type BodyExchange, Http2Body } from './http2_body.ts';
import { type Http2Refusal, readHttp2Head } from './http2_head.ts';
import { HTTP2_HEAD } from './http2_limits.ts';
import { Http2Sink, type SinkExchange } from './http2_sink.ts';
import type { ListenerLimits } from './limits.ts';
import type { ConnectionFacts, Plane } from './port.ts';

/** What all streams of all connections share. */
export interface Http2Shared {
  readonly plane: Plane;
  readonly hands: Hands;
  readonly limits: ListenerLimits;
  readonly deadlines: Deadlines;
  begun(): void;
  over(): void;
}

/** One stream with one request: makes its body and its sink, has it driven, and watches its time. */
export class Http2Exchange implements Due, BodyExchange, SinkExchange {
  deadline = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #facts: ConnectionFacts;
  readonly #shared: Http2Shared;
  #body: Http2Body | null = null;
  #sink: Http2Sink | null = null;
  #hasBegun = false;

  constructor(stream: ServerHttp2Stream, facts: ConnectionFacts, shared: Http2Shared) {
    this.#stream = stream;
    this.#facts = facts;
    this.#shared = shared;
  }

  begin(raw: FieldList, hasEnded: boolean): void {
    const stream = this.#stream;
    const { plane, hands, deadlines } = this.#shared;
    stream.on('error', () => undefined); // `close` follows
    const scheme = this.#facts.tls === null ? 'http' : 'https';
    const read = readHttp2Head(raw, scheme, hasEnded, HTTP2_HEAD, newKey);
    if ('detail' in read) {
      this.#refuse(read);
      return;
    }
    const { head, lengthBytes, expectsContinue, takesTrailers, isTunnel } = read;
    this.#body = new Http2Body(stream, this, lengthBytes, expectsContinue);
    this.#sink = new Http2Sink(stream, this, head.method, { takesTrailers, isTunnel });
    stream.once('aborted', this.#onAborted).once('close', this.#onClose);
    deadlines.watch(this);
    this.#shared.begun();
    drive(
      {
        raw: { head, connection: this.#facts, startMs: Date.now() },
        body: this.#body,
        reply: this.#sink,
        upgradable: isTunnel,
      },
      plane,
      hands,
      this.#onDriven,
    );
  }

  sayContinue(): void {
    this.#sink?.sayContinue();
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
    this.deadline = isStalling ? this.#shared.deadlines.after(this.#shared.limits.writeIdleMs) : 0;
  }

  expire(): void {
    const stream = this.#stream;
    // One that its client has reset, in whatever mood, may still hold what the client does not take.
    if (stream.closed) stream.destroy();
    else if (this.#hasBegun) stream.close(constants.NGHTTP2_CANCEL);
    else this.#body?.fail('timeout', 'the request body did not arrive in time');
  }

  readonly #onDriven = (): void => {
    this.#shared.over();
    const body = this.#body!;
    // RFC 9113 §8.1: the reply is complete, and nobody wants the rest of the request.
    if (body.isWhole || this.#stream.closed) return;
    body.discard();
    this.#stream.close(constants.NGHTTP2_NO_ERROR);
  };

  /**
   * A client that resets a stream with NO_ERROR while it stands still leaves it open in Node, and its session reads
   * nothing more: not even that the client has gone. What we reset ourselves has been sent before the next turn.
   */
  readonly #onAborted = (): void => {
    setImmediate(() => void this.#stream.destroy());
  };

  readonly #onClose = (): void => {
    this.deadline = 0;
    this.#shared.deadlines.forget(this);
    const tellGone = this.#sink!.markGone();
    this.#body!.fail('left', 'the client left in the middle of its request body');
    tellGone();
  };

  /** A head that no exchange is made of; it has its event all the same. */
  #refuse({ status, code, detail, head }: Http2Refusal): void {
    const reply = this.#shared.plane.refuse({ status, code, detail, head, connection: this.#facts });
    const stream = this.#stream;
    if (stream.destroyed) return;
    stream.once('aborted', this.#onAborted);
    stream.setTimeout(this.#shared.limits.writeIdleMs, () => void stream.destroy());
    const bytes = contentOf(reply);
    stream.respond([':status', String(reply.status), ...reply.headers, 'content-length', `${bytes.length}`]);
    stream.end(bytes, () => {
      if (!stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }
}

function contentOf({ body }: Reply): Buffer {
  if (body === 'upstream') return Buffer.alloc(0);
  return 'text' in body ? Buffer.from(body.text) : Buffer.from(body.bytes);
}

/** RFC 6455 §4.1: 16 bytes that nobody has chosen. */
function newKey(): string {
  return Buffer.from(secretBytes(16)).toString('base64');
}
