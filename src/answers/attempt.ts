import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { ForwardFailure, UpstreamRequest } from '../engine/contract.ts';
import { type FieldList, firstValue, hasField } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { Connection, Connections } from './connections.ts';
import { Flow } from './flow.ts';
import { createHeadWait, type HeadWait } from './head_wait.ts';
import type { Body, Forwarded } from './port.ts';
import { type RequestContent, requestContent } from './request_content.ts';

export interface ExchangeLimits {
  /** Longest wait for a response head while it is the upstream's turn, in ms. */
  readonly headMs: number;
  /** Longest wait for the next bytes of a response body, in ms; 0 for no limit. */
  readonly bodyIdleMs: number;
}

export interface Order {
  readonly request: UpstreamRequest;
  readonly body: Body;
  readonly gone: AbortSignal;
  readonly limits: ExchangeLimits;
  readonly connections: Connections;
  /** Never on a kept connection. */
  readonly fresh: boolean;
}

export interface Attempted {
  readonly forwarded: Forwarded;
  /** The connection was a kept one and was closed before a byte of a response. */
  readonly stale: boolean;
}

const LEFT: Attempted = { forwarded: { failure: 'cancelled', detail: 'the client left' }, stale: false };

/** One request on one connection. Settles with the head, or with why there is none; never rejects. */
export function attempt(order: Order): Promise<Attempted> {
  if (order.gone.aborted) return Promise.resolve(LEFT);
  return new Promise((resolve) => new Attempt(order, resolve).send());
}

/** The life of one request on its connection: what undici calls back, from the dial to the last byte. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #order: Order;
  readonly #resolve: (attempted: Attempted) => void;
  readonly #connection: Connection;
  readonly #wait: HeadWait;
  readonly #content: RequestContent;
  readonly #onGone = (): void => this.#fail('cancelled', 'the client left');
  #started = false;
  #reused = false;
  #answering = false;
  #settled = false;
  #flow: Flow | null = null;

  constructor(order: Order, resolve: (attempted: Attempted) => void) {
    const { headMs } = order.limits;
    this.#order = order;
    this.#resolve = resolve;
    this.#connection = order.connections.take(order.request.leaf, order.fresh);
    this.#wait = createHeadWait(headMs, () => this.#fail('timeout', `no response head within ${headMs} ms`));
    this.#content = requestContent(order.body, this.#wait);
  }

  send(): void {
    const { request, body, gone } = this.#order;
    gone.addEventListener('abort', this.#onGone);
    this.#connection.client.dispatch(dispatchOptions(request, body, this.#content), this);
  }

  onRequestStart(): void {
    this.#started = true;
    this.#reused = this.#connection.uses++ > 0;
    if (this.#content.stream === null) this.#wait.begin();
  }

  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) return; // interim responses end here
    const flow = new Flow({
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      idleMs: this.#order.limits.bodyIdleMs,
    });
    this.#flow = flow;
    const headers = fieldsOf(controller);
    const body = {
      lengthBytes: lengthOf(headers),
      pull: () => flow.pull(),
      cancel: () => {
        if (!flow.ended) this.#drop();
      },
    };
    this.#settle({ head: { status, headers }, reused: this.#reused, body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#flow?.push(bytes);
  }

  onResponseEnd(): void {
    this.#flow?.end();
    this.#order.gone.removeEventListener('abort', this.#onGone);
    this.#order.connections.give(this.#order.request.leaf, this.#connection);
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    status: number,
    _fields: unknown,
    duplex: Duplex,
  ): void {
    this.#order.gone.removeEventListener('abort', this.#onGone);
    this.#connection.detach();
    const headers = fieldsOf(controller);
    const protocol = firstValue(headers, 'upgrade') ?? this.#order.request.upgrade ?? '';
    this.#settle({ head: { status, headers }, reused: this.#reused, tunnel: { duplex, protocol } });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#flow !== null) {
      this.#flow.fail('left', error.message);
      this.#drop();
      return;
    }
    const fault = this.#content.fault();
    if (fault === null) this.#fail(failureOf(error, this.#started), detailOf(error));
    else this.#fail('cancelled', fault);
  }

  #fail(failure: ForwardFailure, detail: string): void {
    this.#settle({ failure, detail }, failure === 'reset' && this.#reused && !this.#answering);
    this.#drop();
  }

  #settle(forwarded: Forwarded, stale = false): void {
    this.#wait.over();
    if (this.#settled) return;
    this.#settled = true;
    this.#resolve({ forwarded, stale });
  }

  #drop(): void {
    this.#order.gone.removeEventListener('abort', this.#onGone);
    this.#content.stream?.destroy();
    this.#connection.drop();
  }
}

/** undici's codes for a head that is too long, and for one whose framing contradicts itself. */
const NOT_HTTP: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** What went wrong, in the engine's words. Before undici has a connection it is the dial, whatever the error. */
function failureOf(error: Error, started: boolean): ForwardFailure {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return 'invalid';
  if (!started) return 'connect';
  if (error.name === 'HTTPParserError' || NOT_HTTP.has(code)) return 'invalid';
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
  content: RequestContent,
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
    body: content.stream,
    upgrade: request.upgrade,
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
