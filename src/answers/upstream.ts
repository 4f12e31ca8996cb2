import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { ForwardFailure, UpstreamRequest } from '../engine/contract.ts';
import { type FieldList, firstValue, hasField } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import { type Connections, createConnections, type DialLimits } from './connections.ts';
import { Flow } from './flow.ts';
import type { Body, Forwarded, ResponseBody, UpstreamClient } from './port.ts';

export interface UpstreamLimits extends DialLimits {
  /** Longest wait for a response head after the last byte of the request was handed over, in ms. */
  readonly headMs: number;
  /** Longest wait for the next bytes of a response body, in ms; 0 for no limit. */
  readonly bodyIdleMs: number;
}

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectMs: 10_000,
  headMs: 60_000,
  bodyIdleMs: 300_000,
  idleConnectionMs: 60_000,
  idleConnections: 256,
  headBytes: 1_048_576,
  verifyTls: true,
  ca: [],
};

/** The upstream client on undici: HTTP/1.1, kept connections, content streamed both ways and never decoded. */
export function createUpstreamClient(given: Partial<UpstreamLimits> = {}): UpstreamClient {
  const limits = { ...UPSTREAM_LIMITS, ...given };
  const connections = createConnections(limits);
  return {
    async forward(request, body, gone) {
      const first = await attempt({ request, body, gone, limits, connections, fresh: false });
      // A kept connection may have been closed while the request was on its way; a request that means the same
      // when sent twice is sent once more (RFC 9112 §9.3.1).
      if (!first.stale || body.lengthBytes !== 0 || !IDEMPOTENT.has(request.method)) return first.forwarded;
      return (await attempt({ request, body, gone, limits, connections, fresh: true })).forwarded;
    },
    close: () => connections.close(),
  };
}

/** RFC 9110 §9.2.2. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY']);

interface Order {
  readonly request: UpstreamRequest;
  readonly body: Body;
  readonly gone: AbortSignal;
  readonly limits: UpstreamLimits;
  readonly connections: Connections;
  readonly fresh: boolean;
}

interface Attempted {
  readonly forwarded: Forwarded;
  /** The connection was a kept one and was closed before a byte of a response. */
  readonly stale: boolean;
}

/** One request on one connection, from the dial to the head; the rest of its life is in the body or the tunnel. */
function attempt(order: Order): Promise<Attempted> {
  const { request, gone, limits, connections } = order;
  if (gone.aborted) return Promise.resolve({ forwarded: LEFT, stale: false });
  return new Promise((resolve) => {
    const connection = connections.take(request.leaf, order.fresh);
    const wait = createHeadWait(limits.headMs, () =>
      fail('timeout', `no response head within ${limits.headMs} ms`),
    );
    const content = contentOf(order.body, wait);
    let started = false;
    let reused = false;
    let answering = false;
    let settled = false;
    let flow: Flow | null = null;

    function settle(forwarded: Forwarded, stale = false): void {
      wait.over();
      if (settled) return;
      settled = true;
      resolve({ forwarded, stale });
    }

    function fail(failure: ForwardFailure, detail: string): void {
      settle({ failure, detail }, failure === 'reset' && reused && !answering);
      drop();
    }

    function drop(): void {
      gone.removeEventListener('abort', onGone);
      content.stream?.destroy();
      connection.drop();
    }

    function onGone(): void {
      fail('cancelled', 'the client left');
    }

    gone.addEventListener('abort', onGone);
    connection.client.dispatch(dispatchOptions(request, order.body, content.stream), {
      onRequestStart() {
        started = true;
        reused = connection.uses++ > 0;
        if (content.stream === null) wait.begin();
      },
      onResponseStarted() {
        answering = true;
      },
      onResponseStart(controller, status) {
        if (status < 200) return; // interim responses end here
        flow = new Flow({
          pause: () => controller.pause(),
          resume: () => controller.resume(),
          idleMs: limits.bodyIdleMs,
        });
        const headers = fieldsOf(controller);
        const body = responseBody(flow, lengthOf(headers), drop);
        settle({ head: { status, headers }, reused, body });
      },
      onResponseData: (_controller, bytes) => flow?.push(bytes),
      onResponseEnd() {
        flow?.end();
        gone.removeEventListener('abort', onGone);
        connections.give(request.leaf, connection);
      },
      onRequestUpgrade(controller, status, _fields, duplex) {
        gone.removeEventListener('abort', onGone);
        connection.detach();
        const headers = fieldsOf(controller);
        const protocol = firstValue(headers, 'upgrade') ?? request.upgrade ?? '';
        settle({ head: { status, headers }, reused, tunnel: { duplex, protocol } });
      },
      onResponseError(_controller, error) {
        if (flow === null) {
          const fault = content.fault();
          if (fault === null) fail(failureOf(error, started), detailOf(error));
          else fail('cancelled', fault);
        } else {
          flow.fail('left', error.message);
          drop();
        }
      },
    });
  });
}

const LEFT: Forwarded = { failure: 'cancelled', detail: 'the client left' };

/** What went wrong, in the engine's words. Before undici has a connection it is the dial, whatever the error. */
function failureOf(error: Error, started: boolean): ForwardFailure {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return 'invalid';
  if (!started) return 'connect';
  if (error.name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW') return 'invalid';
  // undici's words for a 100 or 101 that nobody asked for
  return error.message === 'bad response' || error.message === 'bad upgrade' ? 'invalid' : 'reset';
}

/** A failed dial to several addresses (`localhost`) has no message of its own, only a code. */
function detailOf(error: Error): string {
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : 'the connection failed';
}

function dispatchOptions(
  request: UpstreamRequest,
  body: Body,
  stream: Readable | null,
): Dispatcher.DispatchOptions {
  const headers: string[] = [];
  for (let at = 0; at < request.headers.length; at += 2) {
    const lower = request.headers[at]!.toLowerCase();
    // The engine has dropped them already; that framing is chosen in one place only must not hang on that.
    if (!isHopByHop(lower) && !isFraming(lower)) headers.push(request.headers[at]!, request.headers[at + 1]!);
  }
  if (!hasField(headers, 'host')) headers.push('host', `${request.leaf.host}:${request.leaf.port}`);
  // Content-Length where the client declared one; undici writes chunks otherwise.
  if (body.lengthBytes !== null && body.lengthBytes > 0)
    headers.push('content-length', `${body.lengthBytes}`);
  return {
    path: request.target,
    method: request.method,
    headers,
    body: stream,
    upgrade: request.upgrade,
  };
}

/** The wait for a response head. It counts only while it is the upstream's turn, not while the client is awaited. */
interface HeadWait {
  begin(): void;
  suspend(): void;
  over(): void;
}

function createHeadWait(headMs: number, expired: () => void): HeadWait {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  function suspend(): void {
    clearTimeout(timer);
  }
  return {
    begin() {
      suspend();
      if (!isOver) timer = setTimeout(expired, headMs);
    },
    suspend,
    over() {
      isOver = true;
      suspend();
    },
  };
}

interface Content {
  /** Null for a request without content. */
  readonly stream: Readable | null;
  fault(): string | null;
}

/** The request body as undici reads it: nothing is pulled from the client before there is a connection. */
function contentOf(body: Body, wait: HeadWait): Content {
  if (body.lengthBytes === 0) return { stream: null, fault: () => null };
  let fault: string | null = null;
  const stream = new Readable({
    highWaterMark: 65_536,
    read() {
      wait.suspend();
      void pass();
    },
  });
  // undici listens only while it sends; an error that comes later must not be nobody's.
  stream.on('error', () => undefined);
  async function pass(): Promise<void> {
    const part = await body.pull();
    if (stream.destroyed) return;
    if (part.part === 'fault') {
      fault = part.detail;
      stream.destroy(new Error(part.detail));
      return;
    }
    wait.begin();
    stream.push(part.part === 'end' ? null : part.bytes);
  }
  return { stream, fault: () => fault };
}

function responseBody(flow: Flow, lengthBytes: number | null, drop: () => void): ResponseBody {
  return {
    lengthBytes,
    pull: () => flow.pull(),
    cancel() {
      if (!flow.ended) drop();
    },
  };
}

function fieldsOf(controller: Dispatcher.DispatchController): FieldList {
  const raw = controller.rawHeaders;
  if (!Array.isArray(raw)) return [];
  return raw.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
}

/** The declared length of a response; the parser has refused what is ambiguous (RFC 9112 §6.3). */
function lengthOf(headers: FieldList): number | null {
  const declared = firstValue(headers, 'content-length');
  if (declared === undefined || hasField(headers, 'transfer-encoding')) return null;
  return /^[0-9]{1,15}$/.test(declared) ? Number(declared) : null;
}
