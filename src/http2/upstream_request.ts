import { type ClientHttp2Stream, constants } from 'node:http2';
import type { ForwardFailure, UpstreamRequest } from '../engine/questions.ts';
import { contentLength } from '../http/content_length.ts';
import { type FieldList, NO_FIELDS } from '../http/fields.ts';
import { INTERIM_LIMIT } from '../http/message_limits.ts';
import { canRepeat } from '../http/methods.ts';
import { contain, reportFault, requestStream, resetStream } from '../io/containment.ts';
import type { Deadline } from '../io/deadlines.ts';
import type { Http2Limits } from '../io/upstream_limits.ts';
import { codeName } from './error_codes.ts';
import { contentBytes, http2Head, withoutPseudo } from './fields.ts';
import type { Opened, SessionPool, UpstreamSession } from './upstream_sessions.ts';
import { type Uploading, UpstreamUpload } from './upstream_upload.ts';
import type {
  Body,
  BodyFault,
  BodyTaker,
  Forwarding,
  ForwardOptions,
  ForwardTaker,
  ResponseBody,
} from '../io/ports.ts';

/**
 * A request on an HTTP/2 stream, and the body of its response. The body of the request flows at the same time, and each
 * ends on its own.
 */
export class Http2UpstreamRequest implements Forwarding, Uploading, ResponseBody, Deadline {
  deadline = 0;
  slot = -1;
  lengthBytes: number | null = null;
  readonly #pool: SessionPool;
  readonly #request: UpstreamRequest;
  readonly #body: Body;
  readonly #options: ForwardOptions;
  readonly #taker: ForwardTaker;
  readonly #limits: Http2Limits;
  #stream: ClientHttp2Stream | null = null;
  /** Null for a request without content. */
  #upload: UpstreamUpload | null = null;
  #reused = false;
  #isSettled = false;
  #interim = 0;
  /** Remaining bytes of the declared response length. */
  #missingBytes = 0;
  #trailers: FieldList = NO_FIELDS;
  #responseTaker: BodyTaker | null = null;
  #hasEnded = false;
  #fault: { readonly fault: BodyFault; readonly detail: string } | null = null;

  constructor(
    pool: SessionPool,
    request: UpstreamRequest,
    body: Body,
    options: ForwardOptions,
    taker: ForwardTaker,
    limits: Http2Limits,
  ) {
    this.#pool = pool;
    this.#request = request;
    this.#body = body;
    this.#options = options;
    this.#taker = taker;
    this.#limits = limits;
  }

  start(): void {
    const ready = this.#pool.ready();
    if (ready === null)
      void this.#pool
        .take()
        .then((opened) => this.#opened(opened))
        .catch(reportFault);
    else this.#begin(ready);
  }

  cancel(): void {
    this.#isSettled = true;
    this.#responseTaker = null;
    this.#leave(constants.NGHTTP2_CANCEL);
  }

  expire(): void {
    const isBefore = !this.#isSettled;
    const detail = isBefore ? 'no response in time' : 'the response stalled';
    this.#fault ??= { fault: 'timeout', detail };
    this.#leave(constants.NGHTTP2_CANCEL);
    if (isBefore) this.#fail('timeout', detail);
  }

  // --- the body of the request -------------------------------------------------------------------------------------

  uploaded(awaitsUpstream: boolean): void {
    if (!this.#isSettled) this.#expect(awaitsUpstream ? this.#limits.headMs : 0);
  }

  uploadFailed(detail: string): void {
    const isBefore = !this.#isSettled;
    this.#fault ??= { fault: 'left', detail };
    this.#leave(constants.NGHTTP2_CANCEL);
    if (isBefore) this.#fail('cancelled', detail);
  }

  // --- the body of the response ------------------------------------------------------------------------------------

  flow(taker: BodyTaker): void {
    const stream = this.#stream;
    if (this.#hasEnded) taker.end(this.#trailers);
    else if (this.#fault !== null || stream === null)
      taker.fail(this.#fault?.fault ?? 'left', this.#fault?.detail ?? 'the stream was closed');
    else {
      this.#responseTaker = taker;
      this.#expect(this.#limits.bodyIdleMs);
      stream.on('data', this.#onData).once('end', this.#onEnd);
    }
  }

  resume(): void {
    if (this.#responseTaker === null) return;
    this.#expect(this.#limits.bodyIdleMs);
    this.#stream?.resume();
  }

  readonly #onData = (bytes: Buffer): void => {
    const taker = this.#responseTaker;
    if (taker === null) return;
    this.#missingBytes -= bytes.length;
    taker.take(bytes);
    const goesOn = taker.rest();
    this.#expect(goesOn ? this.#limits.bodyIdleMs : 0);
    if (!goesOn) this.#stream?.pause();
  };

  readonly #onEnd = (): void => {
    const taker = this.#responseTaker;
    // The end of a stream that was reset does not count. After NO_ERROR Node reports a normal end; the length may tell.
    if (taker === null || (this.#stream?.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR) return;
    if (this.#missingBytes > 0) return; // `close` follows
    this.#responseTaker = null;
    this.#hasEnded = true;
    this.#expect(0);
    taker.end(this.#trailers);
  };

  // --- the stream --------------------------------------------------------------------------------------------------

  #opened(opened: Opened): void {
    if (this.#isSettled) return;
    if ('failure' in opened) this.#fail(opened.as, opened.failure);
    else this.#begin(opened.session);
  }

  #begin(session: UpstreamSession): void {
    const head = http2Head(this.#request, this.#body.lengthBytes, this.#options.takesTrailers);
    if (head === null) {
      this.#fail('invalid', 'the request cannot be written as HTTP/2');
      return;
    }
    const { lengthBytes } = this.#body;
    this.#reused = session.uses > 0;
    const stream = requestStream(session.http2, head, {
      endStream: lengthBytes === 0,
      waitForTrailers: lengthBytes === null,
    });
    if (typeof stream === 'string') {
      // The session has closed since it was chosen; nothing was sent.
      this.#fail('connect', stream);
      return;
    }
    session.begin();
    this.#stream = stream;
    this.#limits.deadlines.watch(this);
    contain(stream).on('error', () => undefined); // `close` follows
    stream.once('close', () => {
      session.release(this.#pool.isRetired);
      this.#closed(stream);
    });
    stream.on('headers', this.#onInterim);
    stream.once('response', this.#onResponse);
    stream.once('trailers', (_headers: unknown, _flags: number, raw: FieldList = NO_FIELDS) => {
      this.#trailers = withoutPseudo(raw);
    });
    if (lengthBytes === 0) this.#expect(this.#limits.headMs);
    else {
      this.#upload = new UpstreamUpload(stream, this.#body, this, this.#request.removed);
      this.#upload.start();
    }
  }

  readonly #onInterim = (headers: Record<string, unknown>, _flags: number, raw?: FieldList): void => {
    const status = Number(headers[':status']);
    if (this.#isSettled || status === 100) return;
    if (status === 101) this.#refuse('HTTP/2 has no status 101'); // RFC 9113 §8.6
    else if (++this.#interim > INTERIM_LIMIT) this.#refuse('the upstream sends too many interim responses');
    else this.#taker.interim({ status, headers: withoutPseudo(raw ?? NO_FIELDS) });
  };

  readonly #onResponse = (headers: Record<string, unknown>, flags: number, raw?: FieldList): void => {
    if (this.#isSettled) return;
    const status = Number(headers[':status']);
    if (status > 599) return this.#refuse('the status is invalid'); // RFC 9110 §15
    this.#isSettled = true;
    this.#expect(0);
    const fields = withoutPseudo(raw ?? NO_FIELDS);
    const hasEnded = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    this.#hasEnded = hasEnded;
    this.lengthBytes = hasEnded ? 0 : contentLength(fields);
    if (hasEnded) this.#stream?.resume(); // reads on, so that the end is noticed
    this.#missingBytes = contentBytes(this.#request.method, status, this.lengthBytes);
    this.#taker.answered({ status, headers: fields }, this.#reused, this);
  };

  #closed(stream: ClientHttp2Stream): void {
    this.#expect(0);
    this.#limits.deadlines.forget(this);
    if (this.#stream !== stream) return;
    const { rstCode } = stream;
    const detail = `the upstream reset the stream (${codeName(rstCode)})`;
    const taker = this.#responseTaker;
    this.#responseTaker = null;
    if (!this.#isSettled) {
      // RFC 9113 §8.7: the upstream states that it has not processed the request.
      const isUntouched = rstCode === constants.NGHTTP2_REFUSED_STREAM && this.#upload === null;
      const mayRepeat = this.#interim === 0 && canRepeat(this.#request.method, this.#body.lengthBytes);
      this.#fail(isUntouched ? 'connect' : 'reset', detail, mayRepeat);
    } else if (!this.#hasEnded) {
      this.#fault ??= { fault: 'left', detail };
      taker?.fail(this.#fault.fault, this.#fault.detail);
    }
  }

  #refuse(detail: string): void {
    this.#leave(constants.NGHTTP2_PROTOCOL_ERROR);
    this.#fail('invalid', detail);
  }

  #leave(code: number): void {
    this.#expect(0);
    this.#upload?.cut();
    if (this.#stream !== null) resetStream(this.#stream, code);
  }

  #expect(ms: number): void {
    this.deadline = ms === 0 ? 0 : this.#limits.deadlines.after(ms);
  }

  #fail(failure: ForwardFailure, detail: string, isRepeatable = false): void {
    this.#isSettled = true;
    this.#taker.failed(failure, detail, isRepeatable);
  }
}
