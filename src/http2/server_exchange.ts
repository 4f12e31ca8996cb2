import type { Duplex } from 'node:stream';
import type { Deadline, Deadlines } from '../io/deadlines.ts';
import { drive } from '../engine/drivers/live.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import { contentOf } from '../engine/drivers/reply_content.ts';
import type { ConnectionFacts, ExchangePort } from '../engine/drivers/exchange_port.ts';
import type { FieldList } from '../http/fields.ts';
import type { ListenerLimits } from '../io/listener_limits.ts';
import type { ConnectionOutput } from './connection_output.ts';
import { ERROR } from './error_codes.ts';
import { windowUpdateFrame } from './frames.ts';
import { encodeStatus } from './hpack/encoder.ts';
import { CLIENT_STREAM_BYTES } from './limits.ts';
import type { Http2Head, Http2Refusal } from './request_head.ts';
import { encodedField, encodedFields } from './response_fields.ts';
import { type BodyExchange, Http2Body } from './server_body.ts';
import { Http2Sink, type SinkExchange } from './server_sink.ts';
import { StreamWriter, type StreamWriterOwner } from './stream_writer.ts';
import { TunnelStream } from './tunnel_stream.ts';

/** State shared by all streams of all connections. */
export interface Http2Shared {
  readonly exchanges: ExchangePort;
  readonly clients: Clients;
  readonly limits: ListenerLimits;
  /** Of streams. */
  readonly deadlines: Deadlines;
  begun(): void;
  over(): void;
}

/** What a stream needs from its connection. */
export interface StreamConnection {
  readonly facts: ConnectionFacts;
  readonly output: ConnectionOutput;
  /** The initial window of streams, as the client set it. */
  readonly initialWindow: number;
  /** Resets a stream, which is then gone. */
  abort(id: number, code: number): void;
  /** Closes the connection after its streams. */
  drain(): void;
  /** Both sides have ended a stream: the client may open another one. */
  streamEnded(): void;
  /** Nothing is left to do for a stream. */
  streamFinished(id: number): void;
}

/** A stream with one request: its body and its sink, its part of flow control, and its deadlines. */
export class Http2Exchange implements Deadline, BodyExchange, SinkExchange, StreamWriterOwner {
  deadline = 0;
  slot = -1;
  readonly id: number;
  readonly writer: StreamWriter;
  readonly #connection: StreamConnection;
  readonly #shared: Http2Shared;
  /** What the client sends: the content of the request, or its side of a tunnel. */
  #body: Http2Body | null = null;
  #sink: Http2Sink | null = null;
  #tunnel: TunnelStream | null = null;
  #isTunnel = false;
  /** The head of the response was sent. */
  #hasBegun = false;
  #isDriven = false;
  /** The client has sent END_STREAM. */
  clientEnded: boolean;
  /** Both sides have ended the stream. */
  bothEnded = false;
  /** Nothing is left to do: it has ended, was reset, or its connection is lost. */
  #isFinished = false;
  /** Content that the client may still send, in bytes, and content that was read since it was last told so. */
  #windowBytes = CLIENT_STREAM_BYTES;
  #readBytes = 0;
  /** Content that the head declares and that has not arrived; null if it declares none. */
  #leftBytes: number | null = null;
  /** The request is invalid: after the response, the stream is reset. */
  #isMalformed = false;
  /** For the whole request, until the response begins; 0 for no limit. */
  #requestDeadline = 0;

  constructor(id: number, clientEnded: boolean, connection: StreamConnection, shared: Http2Shared) {
    this.id = id;
    this.clientEnded = clientEnded;
    this.#connection = connection;
    this.#shared = shared;
    this.writer = new StreamWriter(id, connection.output, connection.initialWindow, this);
  }

  get nowMs(): () => number {
    return this.#shared.exchanges.nowMs;
  }

  begin(read: Http2Head): void {
    const { exchanges, clients, deadlines, limits } = this.#shared;
    const { head, lengthBytes, expectsContinue, takesTrailers, isTunnel } = read;
    this.#isTunnel = isTunnel;
    const isEmpty = this.clientEnded;
    if (!isEmpty) this.#requestDeadline = deadlines.after(limits.requestMs);
    this.#leftBytes = isEmpty || isTunnel ? null : lengthBytes;
    const body = new Http2Body(this, isEmpty ? 0 : lengthBytes, expectsContinue && !isEmpty);
    this.#body = isTunnel ? new Http2Body(this, isEmpty ? 0 : null, false) : body;
    const sink = new Http2Sink(this, head.method, takesTrailers);
    this.#sink = sink;
    deadlines.watch(this);
    this.#shared.begun();
    const raw = { head, connection: this.#connection.facts };
    drive({ raw, body, reply: sink, upgradable: isTunnel }, exchanges, clients, this.#onDriven);
  }

  /** Answers a head that is refused before an exchange starts; it still has its event. */
  refuse(refusal: Http2Refusal): void {
    const { exchanges, deadlines, limits } = this.#shared;
    const { isMalformed, ...refused } = refusal;
    const reply = exchanges.refuse({ ...refused, connection: this.#connection.facts });
    const bytes = contentOf(reply);
    const fields = encodedFields(reply.headers).text ?? '';
    deadlines.watch(this, limits.writeIdleMs);
    this.#isDriven = true;
    this.#isMalformed = isMalformed;
    const length = encodedField('content-length', String(bytes.length));
    const isHead = refused.head.method === 'HEAD';
    this.writer.head(encodeStatus(reply.status) + fields + length, isHead);
    if (!isHead) this.writer.push(bytes);
    this.writer.end('');
    if (this.writer.flush()) this.#conclude();
  }

  // --- what arrives -------------------------------------------------------------------------------------------------

  /** Content; `flow` counts padding, too. Returns the code of an error of the stream, if any. */
  receive(
    bytes: Buffer,
    flow: { readonly bytes: number; readonly isStable: boolean },
    endsStream: boolean,
  ): number | null {
    if (this.clientEnded) return ERROR.STREAM_CLOSED;
    this.#windowBytes -= flow.bytes;
    if (this.#windowBytes < 0) return ERROR.FLOW_CONTROL_ERROR;
    if (flow.bytes > bytes.length) this.consumed(flow.bytes - bytes.length);
    if (this.#leftBytes !== null) this.#leftBytes -= bytes.length;
    if (this.#leftBytes !== null && this.#leftBytes < 0) this.#failLength('longer');
    else this.#body?.receive(bytes, flow.isStable);
    if (endsStream) this.receiveEnd([]);
    return null;
  }

  receiveEnd(trailers: FieldList): void {
    if (this.#leftBytes !== null && this.#leftBytes > 0) this.#failLength('shorter');
    this.clientEnded = true;
    this.#body?.receiveEnd(trailers);
    this.#settle();
  }

  /** RFC 9113 §8.1.1: such a request is malformed. */
  #failLength(how: 'longer' | 'shorter'): void {
    this.#isMalformed = true;
    this.#body?.fail('malformed', `the content is ${how} than its declared length`);
  }

  /** The stream was reset, or its connection has closed. True if the response was incomplete. */
  gone(): boolean {
    if (this.#isFinished) return false;
    this.#isFinished = true;
    this.deadline = 0;
    this.#shared.deadlines.forget(this);
    // A tunnel ends by a reset, and its exchange after it.
    const isIncomplete = !this.#isDriven && this.#tunnel === null;
    const notifyGone = this.#sink?.markGone();
    // What the system still holds must not be overwritten, so the upstream goes on when it is free.
    this.writer.close(() => {
      this.#body?.fail('left', 'the client left in the middle of its request body');
      notifyGone?.();
      this.#tunnel?.destroy();
    });
    return isIncomplete;
  }

  // --- body and sink ------------------------------------------------------------------------------------------------

  sendContinue(): void {
    this.#sink?.sendContinue();
  }

  waits(isWaiting: boolean): void {
    if (this.#hasBegun || this.#isFinished) return;
    this.deadline = isWaiting ? this.#nextBytesDeadline() : 0;
  }

  /** When the client must have sent more: in time for this body, and for the whole request. */
  #nextBytesDeadline(): number {
    const { deadlines, limits } = this.#shared;
    const idle = deadlines.after(limits.bodyIdleMs);
    return this.#requestDeadline > 0 ? Math.min(idle, this.#requestDeadline) : idle;
  }

  consumed(bytes: number): void {
    this.#readBytes += bytes;
    if (this.clientEnded || this.#isFinished || 2 * this.#readBytes < CLIENT_STREAM_BYTES) return;
    this.#connection.output.send(windowUpdateFrame(this.id, this.#readBytes));
    this.#windowBytes += this.#readBytes;
    this.#readBytes = 0;
  }

  begun(): void {
    this.#hasBegun = true;
    this.deadline = 0;
  }

  stalls(isStalling: boolean): void {
    if (this.#isFinished) return;
    this.deadline = isStalling ? this.#shared.deadlines.after(this.#shared.limits.writeIdleMs) : 0;
  }

  takeOver(): Duplex | null {
    if (!this.#isTunnel || this.#isFinished) return null;
    this.#tunnel = new TunnelStream(this.#body!, this.writer, () => this.reset(ERROR.CANCEL));
    return this.#tunnel;
  }

  reset(code: number = ERROR.INTERNAL_ERROR): void {
    if (this.#isFinished || (this.clientEnded && this.writer.isOver)) return;
    this.#connection.abort(this.id, code);
  }

  close(): void {
    this.reset();
    this.#connection.drain();
  }

  // --- the sending side ---------------------------------------------------------------------------------------------

  accepted(bytes: number): void {
    this.#sink?.accepted(bytes);
  }

  room(): void {
    if (this.#tunnel !== null) this.#tunnel.room();
    else if (this.#sink === null) this.#conclude();
    else this.#sink.room();
  }

  stalled(): void {
    if (this.#tunnel === null) this.stalls(true);
  }

  ended(): void {
    this.#settle();
  }

  readonly #onDriven = (): void => {
    this.#isDriven = true;
    this.#shared.over();
    this.#conclude();
  };

  /** RFC 9113 §8.1: the response is complete, so the rest of the request is not needed. */
  #conclude(): void {
    if (this.#isFinished) return;
    this.#body?.discard();
    if (this.#isMalformed) this.#connection.abort(this.id, ERROR.PROTOCOL_ERROR);
    else if (!this.clientEnded) this.#connection.abort(this.id, ERROR.NO_ERROR);
    else this.#settle();
  }

  #settle(): void {
    if (!this.clientEnded || !this.writer.isOver || this.#isFinished || this.#isMalformed) return;
    if (!this.bothEnded) this.#connection.streamEnded();
    this.bothEnded = true;
    if (!this.#isDriven) return;
    this.#isFinished = true;
    this.#shared.deadlines.forget(this);
    this.#connection.streamFinished(this.id);
  }

  expire(): void {
    if (this.#isFinished) return;
    if (this.#hasBegun || this.#isDriven) this.#connection.abort(this.id, ERROR.CANCEL);
    else this.#body?.fail('timeout', 'the request body did not arrive in time');
  }
}
