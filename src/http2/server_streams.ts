import { secretBytes } from '../crypto/random.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';
import { WIRE_LIMITS } from '../http/message_limits.ts';
import type { ConnectionOutput } from './connection_output.ts';
import { ERROR } from './error_codes.ts';
import type { FloodGate } from './flood_gate.ts';
import { type ConnectionError, protocol } from './frame_reader.ts';
import { DEFAULT_WINDOW_BYTES, MAX_31_BITS, resetFrame, windowUpdateFrame } from './frames.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import {
  CONCURRENT_STREAMS,
  CLIENT_CONNECTION_BYTES,
  HEAD_CEILING_BYTES,
  HTTP2_HEAD,
  UNSENT_STREAMS,
} from './limits.ts';
import { readHttp2Head, readTrailers } from './request_head.ts';
import { Http2Exchange, type Http2Shared, type StreamConnection } from './server_exchange.ts';
import { StreamTable } from './stream_table.ts';

/** Streams that we have reset and for which frames may still arrive, up to this number. */
const REMEMBERED_RESETS = 256;

export const FLOOD: ConnectionError = {
  code: ERROR.ENHANCE_YOUR_CALM,
  detail: 'too many frames without content, or too many resets',
};

/** The streams of a connection, and what their frames do (RFC 9113 §5.1). */
export class ServerStreams implements StreamConnection {
  readonly facts: ConnectionFacts;
  readonly output: ConnectionOutput;
  initialWindow = DEFAULT_WINDOW_BYTES;
  /** The highest id of a stream that the client has opened. */
  lastId = 0;
  /** New streams are ignored: after GOAWAY, the client may repeat their requests elsewhere. */
  isClosing = false;
  readonly #shared: Http2Shared;
  readonly #flood: FloodGate;
  readonly #onFinished: () => void;
  /** Closes the connection after its streams. */
  readonly drain: () => void;
  readonly #decoder = new HpackDecoder(HEAD_CEILING_BYTES);
  readonly #streams = new StreamTable<Http2Exchange>();
  /** Ids of streams that we have reset, the oldest first. */
  readonly #resets = new Set<number>();
  /** Streams that at least one side has not ended. */
  #openCount = 0;
  /** Content that the client may still send on the connection. */
  #windowBytes = CLIENT_CONNECTION_BYTES;

  /** `onFinished` is called when a stream is finished. */
  constructor(
    connection: Pick<StreamConnection, 'facts' | 'output' | 'drain'>,
    shared: Http2Shared,
    flood: FloodGate,
    onFinished: () => void,
  ) {
    this.facts = connection.facts;
    this.output = connection.output;
    this.drain = connection.drain;
    this.#shared = shared;
    this.#flood = flood;
    this.#onFinished = onFinished;
  }

  get isIdle(): boolean {
    return this.#streams.size === 0;
  }

  /** Too many complete responses wait for the system: what causes more of them must wait, too. */
  get isBehind(): boolean {
    return this.#streams.size - this.#openCount > UNSENT_STREAMS;
  }

  data(
    id: number,
    bytes: Buffer,
    flow: { readonly bytes: number; readonly isStable: boolean },
    endsStream: boolean,
  ): ConnectionError | null {
    this.#windowBytes -= flow.bytes;
    if (this.#windowBytes < 0) return overrun('more content than the window of the connection allows');
    // Unread content is limited by the windows of the streams.
    if (2 * this.#windowBytes < CLIENT_CONNECTION_BYTES) {
      this.output.send(windowUpdateFrame(0, CLIENT_CONNECTION_BYTES - this.#windowBytes));
      this.#windowBytes = CLIENT_CONNECTION_BYTES;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.bothEnded) return this.#forClosed(id, 'DATA');
    if (bytes.length === 0 && !endsStream && this.#flood.control()) return FLOOD;
    const code = stream.receive(bytes, flow, endsStream);
    return code === null ? null : this.#streamError(id, code);
  }

  head(id: number, block: Buffer, endsStream: boolean): ConnectionError | null {
    const decoded = this.#decoder.decode(block);
    if (decoded === null) return { code: ERROR.COMPRESSION_ERROR, detail: 'a header block is invalid' };
    const stream = this.#streams.get(id);
    if (stream !== undefined && !stream.bothEnded) {
      if (stream.clientEnded) return this.#streamError(id, ERROR.STREAM_CLOSED);
      const trailers = endsStream ? readTrailers(decoded, WIRE_LIMITS.trailerBytes) : null;
      if (trailers === null) return this.#streamError(id, ERROR.PROTOCOL_ERROR);
      stream.receiveEnd(trailers);
      return null;
    }
    if (id <= this.lastId) return this.#forClosed(id, 'HEADERS');
    if (id % 2 === 0) return protocol('a client opens a stream with an even id');
    if (this.isClosing) return null;
    this.lastId = id;
    if (this.#openCount >= CONCURRENT_STREAMS) {
      this.#sendReset(id, ERROR.REFUSED_STREAM);
      return this.#flood.reset() ? FLOOD : null;
    }
    const exchange = new Http2Exchange(id, endsStream, this, this.#shared);
    this.#streams.add(exchange);
    this.#openCount++;
    const scheme = this.facts.tls === null ? 'http' : 'https';
    const read = readHttp2Head(decoded, scheme, endsStream, HTTP2_HEAD, newKey);
    if ('detail' in read) exchange.refuse(read);
    else exchange.begin(read);
    return null;
  }

  /** The client resets a stream. */
  reset(id: number): ConnectionError | null {
    const stream = this.#streams.get(id);
    if (stream === undefined) return this.#forClosed(id, 'RST_STREAM');
    return this.#remove(stream) && this.#flood.reset() ? FLOOD : null;
  }

  windowUpdate(id: number, by: number): ConnectionError | null {
    if (id === 0) {
      if (by === 0) return protocol('WINDOW_UPDATE with an increment of 0');
      if (this.output.window + by > MAX_31_BITS) return overrun('the window of the connection is too large');
      this.output.widen(by);
      return null;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return id > this.lastId ? neverOpened('WINDOW_UPDATE') : null;
    if (by === 0) return this.#streamError(id, ERROR.PROTOCOL_ERROR);
    return stream.writer.widen(by) ? null : this.#streamError(id, ERROR.FLOW_CONTROL_ERROR);
  }

  /** The client sets the initial window of streams, which changes that of open ones, too (RFC 9113 §6.9.2). */
  setInitialWindow(bytes: number): ConnectionError | null {
    if (bytes > MAX_31_BITS) return overrun('SETTINGS_INITIAL_WINDOW_SIZE is out of range');
    const by = bytes - this.initialWindow;
    this.initialWindow = bytes;
    for (const { writer } of this.#streams.values())
      if (!writer.widen(by)) return overrun('the window of a stream is too large');
    return null;
  }

  /** The connection is lost, with all streams. */
  lose(): void {
    for (const stream of this.#streams.values()) this.#remove(stream);
  }

  // --- called by streams --------------------------------------------------------------------------------------------

  abort(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#sendReset(id, code);
    this.#remove(stream);
  }

  streamEnded(): void {
    this.#openCount--;
  }

  streamFinished(id: number): void {
    this.#streams.delete(id);
    this.#onFinished();
  }

  // --- helpers ------------------------------------------------------------------------------------------------------

  /** True if the stream ends before its response. */
  #remove(stream: Http2Exchange): boolean {
    if (!stream.bothEnded) this.#openCount--;
    this.#streams.delete(stream.id);
    const isEarly = stream.gone();
    this.#onFinished();
    return isEarly;
  }

  #sendReset(id: number, code: number): void {
    this.#resets.add(id);
    if (this.#resets.size > REMEMBERED_RESETS)
      for (const oldest of this.#resets) {
        this.#resets.delete(oldest);
        break;
      }
    this.output.send(resetFrame(id, code));
  }

  /** A frame for a stream that is closed, or was never opened. */
  #forClosed(id: number, type: string): ConnectionError | null {
    if (id > this.lastId) return this.isClosing ? null : neverOpened(type);
    if (this.#flood.control()) return FLOOD;
    // Frames that were in flight when we reset a stream are harmless, and so are resets (RFC 9113 §5.1).
    if (type === 'RST_STREAM' || this.#resets.has(id)) return null;
    return { code: ERROR.STREAM_CLOSED, detail: `${type} on a closed stream` };
  }

  /** RFC 9113 §5.4.2 */
  #streamError(id: number, code: number): ConnectionError | null {
    this.abort(id, code);
    return this.#flood.reset() ? FLOOD : null;
  }
}

function overrun(detail: string): ConnectionError {
  return { code: ERROR.FLOW_CONTROL_ERROR, detail };
}

function neverOpened(type: string): ConnectionError {
  return protocol(`${type} on a stream that was never opened`);
}

/** RFC 6455 §4.1: 16 random bytes. */
function newKey(): string {
  return Buffer.from(secretBytes(16)).toString('base64');
}
