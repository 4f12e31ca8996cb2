import type { LookupFunction } from 'node:net';
import { Duplex } from 'node:stream';
import type { UpstreamRequest } from '../engine/questions.ts';
import { CLOSE, FrameReader, type FrameTaker, OPCODE, closeFrame, frameHead } from './websocket.ts';
import { reportFault } from '../io/containment.ts';
import type { Forwarding, ForwardTaker } from '../io/ports.ts';
import type { OpenTunnel } from '../io/dial.ts';
import { dialTcp } from '../io/tcp_dial.ts';

/** How long the backend of a closed WebSocket may still read what was sent to it, in ms. */
const LINGER_MS = 5_000;
/** How long the client may take to close its side after a close frame, in ms. */
const CLOSE_MS = 30_000;

export interface ConverterLimits {
  readonly connectMs: number;
  readonly ca: readonly string[];
  readonly openTunnel: OpenTunnel | null;
  readonly lookup: LookupFunction;
}

/** Connects to a backend by TCP and sends the 101 response; the tunnel converts between bytes and frames. */
export function forwardConverted(
  request: UpstreamRequest,
  { connectMs, ca, openTunnel, lookup }: ConverterLimits,
  taker: ForwardTaker,
): Forwarding {
  let isOver = false;
  const head = request.converts;
  const connect = async (): Promise<void> => {
    const { endpoint, connection = null } = request;
    const options = { dialMs: connectMs, openTunnel, lookup, ...(ca.length > 0 && { ca: ca.join('\n') }) };
    const dialled = await dialTcp(endpoint, { kind: 'https', connection, preface: null }, options);
    if (isOver) {
      if ('stream' in dialled) dialled.stream.destroy();
    } else if ('failure' in dialled) taker.failed('connect', dialled.failure);
    else taker.switched(head!, false, { duplex: convertedTo(dialled.stream), protocol: 'websocket' });
  };
  // The listener cannot hand over this connection, because it drains or uses HTTP/1.0.
  if (request.upgrade === null || head === undefined)
    taker.failed('invalid', 'this connection cannot become a WebSocket');
  else connect().catch(reportFault);
  return {
    cancel: () => {
      isOver = true;
    },
  };
}

/**
 * A WebSocket as the client sees it, whose binary messages carry the bytes of `tcp`. The client's frames are
 * written to it; the frames for the client are read from it, one binary message for each piece from the
 * backend. Backpressure applies in both directions. The end of the backend's bytes becomes a close frame with
 * 1000, its failure one with 1011; the end of the WebSocket ends the bytes to the backend.
 */
function convertedTo(tcp: Duplex): Duplex {
  const end = (): void => {
    if (!tcp.writableEnded) tcp.end();
    lingering ??= setTimeout(() => tcp.destroy(), LINGER_MS);
  };
  let lingering: NodeJS.Timeout | undefined;
  const toBackend = new ToBackend(tcp, {
    ping: (payload) => toClient.pong(payload),
    closed: (code) => {
      toClient.close(code);
      end();
    },
  });
  const socket = new Duplex({
    allowHalfOpen: true,
    read: () => toClient.resume(),
    write: (frames: Uint8Array, _encoding, done) => toBackend.write(frames, done),
    final: (done) => {
      end();
      done();
    },
    destroy: (error, done) => {
      clearTimeout(lingering);
      toClient.forget();
      tcp.destroy();
      done(error);
    },
  });
  const toClient = new ToClient(socket, tcp);
  tcp.on('data', (bytes: Buffer) => toClient.message(bytes));
  tcp.once('end', () => toClient.close(CLOSE.normal));
  tcp.once('error', () => toClient.close(CLOSE.failed));
  tcp.once('close', () => {
    clearTimeout(lingering);
    toClient.close(CLOSE.failed);
    // Wakes up a write that waits for room.
    tcp.emit('drain');
  });
  tcp.pause();
  return socket;
}

/** Frames for the client. At most its buffer size is queued, plus one pong and one close frame. */
class ToClient {
  readonly #socket: Duplex;
  readonly #tcp: Duplex;
  #hasClosed = false;
  #hasRoom = true;
  /** The response to the latest ping, while the client reads nothing: RFC 6455 §5.5.3 requires no others. */
  #pong: Uint8Array | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Duplex, tcp: Duplex) {
    this.#socket = socket;
    this.#tcp = tcp;
  }

  message(bytes: Uint8Array): void {
    if (this.#hasClosed) return;
    this.#socket.push(frameHead(OPCODE.binary, bytes.length));
    this.#hasRoom = this.#socket.push(bytes);
    if (!this.#hasRoom) this.#tcp.pause();
  }

  pong(payload: Uint8Array): void {
    if (this.#hasClosed) return;
    if (this.#hasRoom) this.#hasRoom = this.#socket.push(pongFrame(payload));
    else this.#pong = payload;
  }

  /** The client has read the queued frames. */
  resume(): void {
    const pong = this.#pong;
    this.#pong = null;
    this.#hasRoom = true;
    if (pong !== null) this.pong(pong);
    if (this.#hasRoom) this.#tcp.resume();
  }

  close(code: number): void {
    if (this.#hasClosed || this.#socket.destroyed) return;
    this.#hasClosed = true;
    this.#pong = null;
    this.#socket.push(closeFrame(code));
    // The server closes first (RFC 6455 §7.1.1) and does not wait for more data from the client.
    this.#socket.push(null);
    this.#tcp.resume();
    this.#timer = setTimeout(() => this.#socket.destroy(), CLOSE_MS);
  }

  forget(): void {
    clearTimeout(this.#timer);
  }
}

/** Content of the client's binary messages for the backend. */
class ToBackend {
  readonly #tcp: Duplex;
  readonly #reader: FrameReader;
  readonly #closed: (code: number) => void;
  /** Content of the frames that were read: many small frames become one write. */
  #bytes = Buffer.alloc(0);
  #length = 0;

  constructor(tcp: Duplex, { ping, closed }: Pick<FrameTaker, 'ping'> & { closed: (code: number) => void }) {
    this.#tcp = tcp;
    this.#closed = closed;
    this.#reader = new FrameReader({
      data: (bytes) => {
        this.#bytes.set(bytes, this.#length);
        this.#length += bytes.length;
      },
      ping,
      close: (code) => this.#end(code),
    });
  }

  write(frames: Uint8Array, done: () => void): void {
    const tcp = this.#tcp;
    if (tcp.destroyed || tcp.writableEnded) return done();
    // Content is never longer than its frames.
    this.#bytes = Buffer.allocUnsafe(frames.length);
    this.#reader.read(frames);
    this.#flush();
    const { problem } = this.#reader;
    if (problem !== null) this.#closed(problem.code);
    if (tcp.writableNeedDrain) tcp.once('drain', () => done());
    else done();
  }

  #end(code: number): void {
    this.#flush();
    this.#closed(code);
  }

  #flush(): void {
    if (this.#length > 0) this.#tcp.write(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
  }
}

function pongFrame(payload: Uint8Array): Buffer {
  return Buffer.concat([frameHead(OPCODE.pong, payload.length), payload]);
}
