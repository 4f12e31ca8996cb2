import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { BodyFault, BodyTaker, ReplySink, RequestBody } from '../io/ports.ts';
import type { RawHead } from '../engine/request_head.ts';
import { isLength } from '../http/content_length.ts';
import type { FieldList } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';

/** The request that adapters work on; Express, Fastify and connect pass compatible objects. */
export type NodeRequest = IncomingMessage & { originalUrl?: string };
export type NodeResponse = ServerResponse;

/** The head as received; over HTTP/2 the request line is taken from the pseudo-fields. */
export function rawHeadOf(request: NodeRequest): RawHead {
  const headers: string[] = [];
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name === ':authority') headers.push('host', rawHeaders[at + 1]!);
    else if (!name.startsWith(':')) headers.push(name, rawHeaders[at + 1]!);
  }
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    version: request.httpVersionMajor >= 2 ? '2.0' : request.httpVersion === '1.0' ? '1.0' : '1.1',
    scheme: isEncrypted(request) ? 'https' : 'http',
    headers,
  };
}

function isEncrypted({ socket }: NodeRequest): boolean {
  return (socket as { readonly encrypted?: boolean } | null)?.encrypted === true;
}

/**
 * Facts about the connection. A request created by a test may have no socket and counts as local; a socket without an
 * address has lost its peer or is not an IP socket, and its address must not be guessed.
 */
export function connectionFactsOf(request: NodeRequest, nowMs: number): ConnectionFacts {
  const socket = request.socket as Partial<IncomingMessage['socket']> | null;
  return {
    clientAddress: socket?.remoteAddress ?? (socket instanceof Socket ? '' : '127.0.0.1'),
    clientPort: socket?.remotePort ?? 0,
    serverAddress: socket?.localAddress ?? '127.0.0.1',
    serverPort: socket?.localPort ?? 0,
    serverName: (socket as { readonly servername?: string | false } | null)?.servername || '',
    startMs: nowMs,
    tls: null,
  };
}

/** A request body that can be read before the application reads it, and put back. */
export interface ReturnableBody extends RequestBody {
  /** Puts the bytes that were read, or replacement bytes, back at the front of the stream. */
  readonly putBack: (instead: Uint8Array | null) => void;
}

/**
 * The content of a request, read from its paused stream. The end is never consumed, so that the application
 * still gets a stream that has not ended.
 */
export function bodyOfRequest(request: NodeRequest): ReturnableBody {
  const read: Uint8Array[] = [];
  let receivedBytes = 0;
  let fault: BodyFault | null = null;
  let goOn: (() => void) | null = null;

  /** Passes on what is buffered; `wait` means that more data has to arrive first. */
  function give(taker: BodyTaker): 'more' | 'wait' | 'over' {
    if (request.complete && request.readableLength === 0) {
      taker.end([]);
      return 'over';
    }
    if (request.destroyed && !request.complete) {
      fault = 'left';
      taker.fail(fault, 'the client left in the middle of its request body');
      return 'over';
    }
    const bytes = request.readableLength === 0 ? null : (request.read() as Uint8Array | null);
    if (bytes === null) return 'more';
    read.push(bytes);
    receivedBytes += bytes.length;
    taker.take(bytes);
    return taker.rest() ? give(taker) : 'wait';
  }

  async function pump(taker: BodyTaker): Promise<void> {
    for (let came = give(taker); came !== 'over'; came = give(taker)) {
      if (came === 'more') await moreOf(request);
      else await new Promise<void>((resolve) => (goOn = resolve));
    }
  }

  return {
    lengthBytes: declaredLength(request),
    awaitsContinue: false,
    get receivedBytes() {
      return receivedBytes;
    },
    get fault() {
      return fault;
    },
    flow: (taker) => void pump(taker),
    resume: () => goOn?.(),
    putBack: (instead) => {
      const bytes = instead ?? Buffer.concat(read);
      if (receivedBytes > 0) hideReading(request);
      read.length = 0;
      if (bytes.length > 0) request.unshift(bytes);
    },
  };
}

/** Resets the read state, because some applications refuse a stream that was read before. */
function hideReading(request: NodeRequest): void {
  Object.defineProperty(request, 'readableDidRead', { get: () => request.readableEnded, configurable: true });
}

/** Resolves when there is more to read, or when the stream has ended. */
function moreOf(request: NodeRequest): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of ['readable', 'close', 'error']) request.off(event, settle);
      resolve();
    };
    for (const event of ['readable', 'close', 'error']) request.on(event, settle);
  });
}

function declaredLength({ headers }: NodeRequest): number | null {
  const length = headers['content-length'];
  if (length !== undefined && isLength(length)) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : null;
}

/** The original methods of a response, before the application's view replaces them. */
export interface RealResponse {
  readonly writeHead: (status: number, fields: readonly string[]) => void;
  readonly write: (bytes: Uint8Array, done: (error?: Error | null) => void) => boolean;
  readonly end: () => void;
}

export function realResponse(response: NodeResponse): RealResponse {
  // The application's view replaces these methods; they are called on the response.
  // oxlint-disable-next-line typescript/unbound-method -- see above
  const { writeHead, write, end } = response;
  const isArrayTaken = response.req?.httpVersionMajor !== 2;
  return {
    writeHead: (status, fields) => {
      if (isArrayTaken) writeHead.call(response, status, [...fields]);
      else {
        for (let at = 0; at < fields.length; at += 2) response.appendHeader(fields[at]!, fields[at + 1]!);
        writeHead.call(response, status);
      }
    },
    write: (bytes, done) => write.call(response, bytes, 'utf8', done),
    end: () => void (end as () => unknown).call(response),
  };
}

/** The reply sink for a response of the server. */
export function sinkOf(request: NodeRequest, response: NodeResponse, real: RealResponse): ReplySink {
  let hasRoom = true;
  let ended: (() => void) | null = null;
  const counts = { gone: false, headSent: false, sentBytes: 0 };
  const sink: ReplySink = {
    method: request.method ?? 'GET',
    takesTrailers: false,
    onGone: null,
    onRoom: null,
    get gone() {
      return counts.gone;
    },
    get headSent() {
      return counts.headSent;
    },
    get sentBytes() {
      return counts.sentBytes;
    },
    interim: () => undefined,
    head: (status, fields, { lengthBytes }) => {
      if (counts.gone) return;
      counts.headSent = true;
      real.writeHead(
        status,
        lengthBytes === null
          ? endToEnd(fields)
          : [...endToEnd(fields), 'content-length', String(lengthBytes)],
      );
    },
    take: (bytes) => {
      if (counts.gone) return;
      const { length } = bytes;
      // Node may write it later, when the borrowed buffer has been reused.
      hasRoom = real.write(Buffer.from(bytes), (error) => {
        if (error === null || error === undefined) counts.sentBytes += length;
      });
    },
    rest: () => counts.gone || hasRoom,
    end: (_trailers, done) => {
      if (counts.gone) return done();
      ended = done;
      real.end();
    },
    switchProtocols: () => null,
    destroy: () => void request.socket?.destroy(),
    close: () => sink.destroy(),
    cut: (done) => cutNow(sink, done),
  };
  const finish = (): void => {
    const done = ended;
    ended = null;
    done?.();
  };
  response.on('error', () => undefined); // 'close' follows
  response.once('finish', finish);
  response.on('drain', () => {
    if (hasRoom) return;
    hasRoom = true;
    sink.onRoom?.();
  });
  response.once('close', () => {
    if (response.writableFinished) return;
    counts.gone = true;
    const onGone = sink.onGone;
    sink.onGone = null;
    onGone?.();
    finish();
  });
  return sink;
}

function cutNow(sink: ReplySink, done: () => void): void {
  sink.destroy();
  done();
}

/** Framing and hop-by-hop fields are set by the server. */
function endToEnd(fields: FieldList): string[] {
  const out: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const lower = fields[at]!.toLowerCase();
    if (!isHopByHop(lower) && !isFraming(lower)) out.push(fields[at]!, fields[at + 1]!);
  }
  return out;
}
