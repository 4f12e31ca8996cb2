import type { Duplex } from 'node:stream';
import type { ResponseHead } from '../engine/contract.ts';
import type { ForwardFailure, UpstreamRequest } from '../engine/questions.ts';
import type { FieldList } from '../http/fields.ts';

/**
 * The interfaces between the driver and the wire: bodies, the sink of a response and the upstream client,
 * independent of any codec. A server implements the first two, `http1/upstream_client.ts` the third. All of
 * them use callbacks: a request whose parts are available runs to its end synchronously.
 */

/**
 * Why a body ended early. `left`: the peer went away; `malformed`: its framing is invalid; `…_too_large`:
 * chunk extensions or trailers exceed the limit.
 */
export type BodyFault = 'left' | 'timeout' | 'malformed' | 'extensions_too_large' | 'trailers_too_large';

/**
 * The consumer of a body. Receives `take` and `rest` any number of times, then `end` or `fail` once, and
 * nothing after that. A taker must not throw.
 */
export interface BodyTaker {
  /**
   * Bytes, lent: they stay valid until a `rest` that returns true, or until the body is resumed. A taker that
   * needs them longer copies them. After `end` they are free if it returns true.
   */
  take(bytes: Uint8Array): void;
  /**
   * Nothing more is available for now. False: the source pauses until it is resumed, and keeps the lent bytes
   * valid.
   */
  rest(): boolean;
  /**
   * The body is complete. `trailers` are almost always empty. Returns whether the lent bytes are free. If not, the
   * source must never overwrite them, because nothing says when they are.
   */
  end(trailers: FieldList): boolean;
  fail(fault: BodyFault, detail: string): void;
}

/**
 * A body. It is not read from its sender before it flows, nor while it is paused, so backpressure reaches the
 * sender.
 */
export interface Body {
  /** The declared length; 0 without content, null when only the end will tell (chunked, or until close). */
  readonly lengthBytes: number | null;
  /** Starts passing the body to `taker`, synchronously as far as it is available; once per body. */
  flow(taker: BodyTaker): void;
  /** Continues after a `rest` that returned false; must not be called inside that `rest`. */
  resume(): void;
}

/** A client's request body. */
export interface RequestBody extends Body {
  /** Bytes of content read from the client so far. */
  readonly receivedBytes: number;
  /** Why the content ended early; null if it did not. */
  readonly fault: BodyFault | null;
  /** Whether the client waits for 100 Continue; `flow` sends it. */
  readonly awaitsContinue: boolean;
}

/** A response body; a taker that does not read it to the end must cancel it. */
export interface ResponseBody extends Body {
  /** Discards the rest and closes its connection. Harmless after the end. */
  cancel(): void;
}

export interface ReplyFraming {
  /** Null: the sink chooses the framing that ends the content. */
  readonly lengthBytes: number | null;
  /** False: the response has no content, and `lengthBytes` is the length for GET (RFC 9110 §8.6). */
  readonly content: boolean;
}

/** The destination of a response. Once the client is gone, calls have no effect; only `head` may throw. */
export interface ReplySink {
  readonly method: string;
  /** Whether the client's connection was lost before the end of the response. */
  readonly gone: boolean;
  /** Called once when `gone` becomes true. */
  onGone: (() => void) | null;
  /** Called when there is room again after a `rest` that returned false. */
  onRoom: (() => void) | null;
  readonly headSent: boolean;
  /** Bytes of content that the operating system has accepted, without framing. */
  readonly sentBytes: number;
  /** Whether the client accepts trailers. */
  readonly takesTrailers: boolean;
  /** Passes an interim response on (RFC 9110 §15.2); no effect if the client's protocol version has none. */
  interim(status: number, fields: FieldList): void;
  /**
   * Starts the response. The sink leaves out framing and hop-by-hop fields. Throws on a field that cannot be
   * written as one line, before any byte is sent.
   */
  head(status: number, fields: FieldList, framing: ReplyFraming): void;
  /** Content, lent as in `BodyTaker.take`. */
  take(bytes: Uint8Array): void;
  /** Sends what was given. False: wait for `onRoom`. */
  rest(): boolean;
  /**
   * Ends the response; `done` is called when all has been passed to the operating system or the client is
   * gone.
   */
  end(trailers: FieldList, done: () => void): void;
  /**
   * Sends 101 with these fields and returns the raw connection; null when the client is gone or did not ask
   * for it.
   */
  switchProtocols(fields: FieldList, protocol: string): Duplex | null;
  /** Closes the connection abruptly: the client must not take the response for complete. */
  destroy(): void;
  /** Closes the connection, which the engine refuses, without a response. */
  close(): void;
  /**
   * As `destroy`, but after all that was given; `done` is called when that was sent or the client is gone.
   */
  cut(done: () => void): void;
}

/** Receives the result of a forward: `interim` any number of times, then one of the others, once. */
export interface ForwardTaker {
  interim(head: ResponseHead): void;
  /** The body flows when the taker starts it. */
  answered(head: ResponseHead, reused: boolean, body: ResponseBody): void;
  switched(head: ResponseHead, reused: boolean, tunnel: Tunnel): void;
  /** `isRepeatable`: nothing of a response arrived, and the request may be sent again. */
  failed(failure: ForwardFailure, detail: string, isRepeatable?: boolean): void;
}

/** The result of a forward. */
export type Forwarded =
  | { readonly head: ResponseHead; readonly reused: boolean; readonly body: ResponseBody }
  | { readonly head: ResponseHead; readonly reused: boolean; readonly tunnel: Tunnel }
  | { readonly failure: ForwardFailure; readonly detail: string };

/** The upstream side of an upgraded connection. */
export interface Tunnel {
  readonly duplex: Duplex;
  /** `Upgrade` as the upstream spelled it. */
  readonly protocol: string;
  /** Called with the bytes that pass, lent until it returns. */
  readonly observe?: (way: 'toUpstream' | 'toClient', bytes: Uint8Array) => void;
}

/** Options of a forward besides the request. */
export interface ForwardOptions {
  /** Ask the upstream whether it wants the body before sending it (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
  /** Tell the upstream that trailers are accepted (RFC 9110 §10.1.4). */
  readonly takesTrailers: boolean;
}

/** A forward in flight. */
export interface Forwarding {
  /**
   * Cancels the exchange in any state and frees its connection; the taker is not called any more. Harmless
   * after the end.
   */
  cancel(): void;
}

export interface UpstreamClient {
  /** Sends the request; the taker may be called before this returns. Never throws. */
  forward(request: UpstreamRequest, body: Body, options: ForwardOptions, taker: ForwardTaker): Forwarding;
  /** Closes all connections, including those in use. */
  close(): Promise<void>;
}

/** An upstream client that reuses connections. */
export interface KeepingClient extends UpstreamClient {
  /** Sets the upstreams of a new configuration: connections to others, except tunnels, close as soon as they are idle. */
  keepOnly(endpoints: readonly UpstreamRequest['endpoint'][]): void;
}
