import type { Duplex } from 'node:stream';
import type { WireLimits } from '../http/message_limits.ts';
import { ReadBuffer, unshiftBuffered } from '../io/read_buffer.ts';
import { BodyDecoder } from './body_decoder.ts';
import { MORE } from './fields.ts';
import { CHUNKED } from '../http/framing.ts';
import { beginsHttp2, HEAD, type PartialRequest, RequestReader, type WireRequest } from './request_head.ts';
import type { Http1Body } from './server_body.ts';

/** What a client has sent on a connection, read as heads and content of requests. */
export class Http1Input {
  /** A head has begun and is incomplete. */
  isWithinHead = false;
  readonly #wire: WireLimits;
  readonly #bytes = new ReadBuffer();
  readonly #reader: RequestReader;
  /** Created for the first request with content. */
  #decoder: BodyDecoder | null = null;
  #isFirst = true; // no request has arrived yet

  constructor(wire: WireLimits) {
    this.#wire = wire;
    this.#reader = new RequestReader(wire);
  }

  /** Number of unread bytes. */
  get length(): number {
    return this.#bytes.length;
  }

  add(bytes: Buffer, from: number, to: number, isShared: boolean): void {
    this.#bytes.add(bytes, from, to, isShared);
  }

  /** As `ReadBuffer.leaveShared`. */
  leaveShared(): void {
    this.#bytes.leaveShared();
  }

  clear(): void {
    this.#bytes.clear();
  }

  /** Reads unread bytes as a head. Returns `HEAD`, `MORE` or `REFUSED`. */
  readHead(): number {
    const bytes = this.#bytes;
    const reader = this.#reader;
    const read = reader.read(bytes.bytes, bytes.from, bytes.to);
    this.isWithinHead = read === MORE && reader.isWithin;
    if (read === HEAD) {
      bytes.from = reader.end;
      this.#isFirst = false;
    }
    return read;
  }

  /** Returns the last head and releases it. */
  takeHead(): WireRequest {
    return this.#reader.takeHead();
  }

  /** Why the head was refused. */
  get problem(): RequestReader['problem'] {
    return this.#reader.problem;
  }

  /** What is known of a head that was refused, or is incomplete. */
  get partial(): PartialRequest {
    return this.#reader.partial;
  }

  /** Content follows; null is chunked. */
  beginContent(lengthBytes: number | null): void {
    this.#decoder ??= new BodyDecoder(this.#wire);
    this.#decoder.begin(lengthBytes ?? CHUNKED);
  }

  /** Passes unread bytes to a body; see `Http1Body.readFrom`. */
  readContent(body: Http1Body): ReturnType<Http1Body['readFrom']> {
    return body.readFrom(this.#bytes, this.#decoder!);
  }

  /** Why the content is `broken`. */
  get contentProblem(): BodyDecoder['problem'] {
    return this.#decoder!.problem;
  }

  /** Whether the connection begins with the preface of HTTP/2. */
  get beginsHttp2(): boolean {
    return this.#isFirst && beginsHttp2(this.#bytes);
  }

  /** Returns unread bytes to the connection, for its next reader. */
  unshiftTo(socket: Duplex): void {
    unshiftBuffered(this.#bytes, socket);
  }
}
