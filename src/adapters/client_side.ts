import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyFault, BodyPart, ReplySink, RequestBody } from '../answers/port.ts';
import type { RawHead } from '../engine/request_head.ts';
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
 * The content of a request, pulled from its stream while the stream is paused. The end is never read, so that the
 * application still finds a stream that has not ended.
 */
export function bodyOfRequest(request: NodeRequest): ReturnableBody {
  const read: Uint8Array[] = [];
  let receivedBytes = 0;
  let fault: BodyFault | null = null;

  function take(): BodyPart | null {
    const isWhole = request.complete && request.readableLength === 0;
    if (isWhole) return { part: 'end' };
    if (request.destroyed && !request.complete) {
      fault = 'left';
      return { part: 'fault', fault, detail: 'the client left in the middle of its request body' };
    }
    if (request.readableLength === 0) return null;
    const bytes = request.read() as Uint8Array | null;
    if (bytes === null) return null;
    read.push(bytes);
    receivedBytes += bytes.length;
    return { part: 'bytes', bytes };
  }

  return {
    lengthBytes: declaredLength(request),
    get receivedBytes() {
      return receivedBytes;
    },
    get fault() {
      return fault;
    },
    pull: async () => {
      for (;;) {
        const part = take();
        if (part !== null) return part;
        await moreOf(request);
      }
    },
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
  const left = new AbortController();
  let headSent = false;
  let sentBytes = 0;
  response.once('close', () => {
    if (!response.writableFinished) left.abort();
  });
  response.on('error', () => undefined); // 'close' follows
  const settled = (event: 'drain' | 'finish', begin: () => void): Promise<void> => {
    if (left.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      response.once(event, resolve);
      left.signal.addEventListener('abort', () => resolve(), { once: true });
      begin();
    });
  };
  return {
    method: request.method ?? 'GET',
    gone: left.signal,
    get headSent() {
      return headSent;
    },
    get sentBytes() {
      return sentBytes;
    },
    head: (status, fields, { lengthBytes }) => {
      if (left.signal.aborted) return;
      headSent = true;
      real.writeHead(
        status,
        lengthBytes === null ? fields : [...fields, 'content-length', String(lengthBytes)],
      );
    },
    write: (bytes) => {
      if (left.signal.aborted) return true;
      return real.write(bytes, (error) => {
        if (error === null || error === undefined) sentBytes += bytes.length;
      });
    },
    drained: () => settled('drain', () => undefined),
    end: () => settled('finish', real.end),
    switchProtocols: () => null,
    destroy: () => void request.socket?.destroy(),
  };
}
