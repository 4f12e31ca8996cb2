import type { Duplex } from 'node:stream';
import type { ForwardFailure, ResponseHead, UpstreamRequest } from '../engine/contract.ts';
import type { FieldList } from '../http/fields.ts';

/**
 * What the hands of the driver hold: bodies, the reply's sink and the upstream client, without a word about who
 * parses the bytes. A front makes the first two, `http1/upstream_client.ts` the third; another codec may make all. All of
 * it is callbacks: a request whose parts are there when they are asked for runs to its end in one go.
 */

/**
 * Why a body ended before its end. `left`: the peer went away; `malformed`: its framing is broken; `…_too_large`: what
 * stands around its content is longer than the limit.
 */
export type BodyFault = 'left' | 'timeout' | 'malformed' | 'extensions_too_large' | 'trailers_too_large';

/**
 * Who takes a body. `take` and `rest` in any number, then `end` or `fail` once; nothing comes after that. A taker
 * must not throw.
 */
export interface BodyTaker {
  /**
   * Bytes, lent: they stay as they are until a `rest` that says true, or until the body is resumed. Who needs them
   * longer copies them. After `end` they are the taker's for as long as `end` runs.
   */
  take(bytes: Uint8Array): void;
  /** Nothing more is there for now. False: the source waits until it is resumed, and leaves what it lent alone. */
  rest(): boolean;
  /** All of it has been taken. `trailers` came behind it; almost always none. */
  end(trailers: FieldList): void;
  fail(fault: BodyFault, detail: string): void;
}

/** A body. Nothing of it is read from its sender before it flows, nor while it waits: so the sender waits too. */
export interface Body {
  /** As declared; 0 when there is none, null when only the end will tell (chunked, or until close). */
  readonly lengthBytes: number | null;
  /** Begins to give the body to `taker`, at once as far as it is there; once for each body. */
  flow(taker: BodyTaker): void;
  /** Goes on after a `rest` that said false; not from inside of that `rest`. */
  resume(): void;
}

/** A client's request body. */
export interface RequestBody extends Body {
  /** Bytes of content read from the client so far. */
  readonly receivedBytes: number;
  /** Why the content ended early, if it did. */
  readonly fault: BodyFault | null;
  /** Whether the client waits to be told to send it (100-continue); `flow` tells it. */
  readonly awaitsContinue: boolean;
}

/** A response body; whoever does not take it to its end must cancel it. */
export interface ResponseBody extends Body {
  /** Gives up the rest and closes the connection that it came on; nothing is taken any more. Harmless after the end. */
  cancel(): void;
}

export interface ReplyFraming {
  /** Null: the content is ended by framing of the sink's choice. */
  readonly lengthBytes: number | null;
  /** False: the reply has no content, and `lengthBytes` is what GET would have had (RFC 9110 §8.6). */
  readonly content: boolean;
}

/** Where a reply goes. Once the client is gone all calls are without effect; only `head` may throw. */
export interface ReplySink {
  readonly method: string;
  /** Whether the client's connection was lost before the reply ended. */
  readonly gone: boolean;
  /** Called once when `gone` becomes true. */
  onGone: (() => void) | null;
  /** Called when there is room again after a `rest` that said false. */
  onRoom: (() => void) | null;
  readonly headSent: boolean;
  /** Bytes of content that the operating system has taken, framing not counted. */
  readonly sentBytes: number;
  /** Whether the client takes trailers. */
  readonly takesTrailers: boolean;
  /** Passes an interim response on (RFC 9110 §15.2); without effect where the client knows none. */
  interim(status: number, fields: FieldList): void;
  /**
   * Begins the reply. Framing and fields of one hop that are among `fields` are the sink's to leave out. Throws on a
   * field that would break out of its line, before a byte is sent.
   */
  head(status: number, fields: FieldList, framing: ReplyFraming): void;
  /** Content, lent as `BodyTaker.take` says. */
  take(bytes: Uint8Array): void;
  /** Sends what was given. False: wait for `onRoom`. */
  rest(): boolean;
  /** Ends the reply; `done` when all has been handed to the operating system or the client is gone. */
  end(trailers: FieldList, done: () => void): void;
  /** Sends 101 with these fields and gives the connection as it is; null when the client is gone or never asked. */
  switchProtocols(fields: FieldList, protocol: string): Duplex | null;
  /** Cuts the connection: the client must not take what it has for the whole. */
  destroy(): void;
  /** The same behind all that was given; `done` when that has gone out or the client is gone. */
  cut(done: () => void): void;
}

/** Who asked for a forward. `interim` any number of times, then one of the others, once. */
export interface ForwardTaker {
  interim(head: ResponseHead): void;
  /** The body flows when the taker lets it. */
  answered(head: ResponseHead, reused: boolean, body: ResponseBody): void;
  switched(head: ResponseHead, reused: boolean, tunnel: Tunnel): void;
  failed(failure: ForwardFailure, detail: string): void;
}

/** What came of one forward. */
export type Forwarded =
  | { readonly head: ResponseHead; readonly reused: boolean; readonly body: ResponseBody }
  | { readonly head: ResponseHead; readonly reused: boolean; readonly tunnel: Tunnel }
  | { readonly failure: ForwardFailure; readonly detail: string };

/** The upstream's side of a connection that has changed its protocol. */
export interface Tunnel {
  readonly duplex: Duplex;
  /** `Upgrade` as the upstream spelled it. */
  readonly protocol: string;
}

/** What a forward needs besides the request. */
export interface ForwardOptions {
  /** Ask the upstream whether it wants the body before it flows (RFC 9110 §10.1.1). */
  readonly expectsContinue: boolean;
  /** Tell the upstream that trailers are taken (RFC 9110 §10.1.4). */
  readonly takesTrailers: boolean;
}

/** A forward that is under way. */
export interface Forwarding {
  /** Gives the exchange up at any phase and frees its connection; the taker hears no more. Harmless after the end. */
  cancel(): void;
}

export interface UpstreamClient {
  /** Sends the request; the taker may hear what came of it before this returns. Never throws. */
  forward(request: UpstreamRequest, body: Body, options: ForwardOptions, taker: ForwardTaker): Forwarding;
  /** Closes all connections, those in use too. */
  close(): Promise<void>;
}

/** An upstream client that keeps connections from one exchange to the next. */
export interface KeepingClient extends UpstreamClient {
  /** The upstreams of a new configuration: connections to others close as soon as no exchange uses them. */
  keepOnly(endpoints: readonly UpstreamRequest['endpoint'][]): void;
}
