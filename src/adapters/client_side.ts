import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyFault, BodyTaker, ReplySink, RequestBody } from '../answers/port.ts';
import type { RawHead } from '../engine/request_head.ts';
import type { FieldList } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { ConnectionFacts } from '../proxy/port.ts';

/** What adapters need of a request; Express, Fastify and connect hand over objects that have it. */
export type NodeRequest = IncomingMessage & { originalUrl?: string };
export type NodeResponse = ServerResponse;

/** The head as it came; pseudo-fields of HTTP/2 are its request line. */
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

/** What is known of the connection; a request made up by a test may have none. */
export function connectionFactsOf(request: NodeRequest, nowMs: number): ConnectionFacts {
  const socket = request.socket as Partial<IncomingMessage['socket']> | null;
  return {
    clientAddress: socket?.remoteAddress ?? '127.0.0.1',
    clientPort: socket?.remotePort ?? 0,
    serverAddress: socket?.localAddress ?? '127.0.0.1',
    serverPort: socket?.localPort ?? 0,
    serverName: (socket as { readonly servername?: string | false } | null)?.servername || '',
    startMs: nowMs,
    tls: null,
  };
}

/** A request body that is read before the application reads it, and can be given back. */
export interface ReturnableBody extends RequestBody {
  /** Puts what was read back to the front of the stream, or other bytes in its place. */
  readonly giveBack: (instead: Uint8Array | null) => void;
}

/**
 * The content of a request, read from its stream while the stream is paused. The end is never read, so that the
 * application still finds a stream that has not ended.
 */
export function bodyOfRequest(request: NodeRequest): ReturnableBody {
  const read: Uint8Array[] = [];
  let receivedBytes = 0;
  let fault: BodyFault | null = null;
  let goOn: (() => void) | null = null;

  /** Gives what is there; false when more has to be awaited. */
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
    giveBack: (instead) => {
      const bytes = instead ?? Buffer.concat(read);
      if (receivedBytes > 0) hideReading(request);
      read.length = 0;
      if (bytes.length > 0) request.unshift(bytes);
    },
  };
}

/** The application is the first to read, as far as it can tell; some refuse a stream that was read before. */
function hideReading(request: NodeRequest): void {
  Object.defineProperty(request, 'readableDidRead', { get: () => request.readableEnded, configurable: true });
}

/** Settles when there is more to read, or nothing more will come. */
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
  if (length !== undefined && /^\d{1,15}$/.test(length)) return Number(length);
  return headers['transfer-encoding'] === undefined ? 0 : null;
}

/** The methods of a response before an application's view of it is put in their place. */
export interface RealResponse {
  readonly writeHead: (status: number, fields: readonly string[]) => void;
  readonly write: (bytes: Uint8Array, done: (error?: Error | null) => void) => boolean;
  readonly end: () => void;
}

export function realResponse(response: NodeResponse): RealResponse {
  // The application's view takes the place of these; they are called on the response.
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

/** The reply's sink over the response that the server handed out. */
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
      // It may be written later, and what was lent is not there any more then.
      hasRoom = real.write(Buffer.from(bytes), (error) => {
        if (error === null || error === undefined) counts.sentBytes += bytes.length;
      });
    },
    rest: () => counts.gone || hasRoom,
    end: (_trailers, done) => {
      if (counts.gone) done();
      else {
        ended = done;
        real.end();
      }
    },
    switchProtocols: () => null,
    destroy: () => void request.socket?.destroy(),
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

/** Framing, and what is of one hop, is the server's to say. */
function endToEnd(fields: FieldList): string[] {
  const out: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const lower = fields[at]!.toLowerCase();
    if (!isHopByHop(lower) && !isFraming(lower)) out.push(fields[at]!, fields[at + 1]!);
  }
  return out;
}
