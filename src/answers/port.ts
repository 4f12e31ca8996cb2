import type { Duplex } from 'node:stream';
import type { ForwardFailure, ResponseHead, UpstreamRequest } from '../engine/contract.ts';
import type { FieldList } from '../http/fields.ts';

/**
 * What the hands of the driver hold: bodies, the reply's sink and the upstream client, without a word about who
 * parses the bytes. A listener makes the first two, `answers/upstream.ts` the third; another codec may make all.
 */

/** Why a body ended before its end. `left`: the peer went away; `malformed`: its framing is broken. */
export type BodyFault = 'left' | 'timeout' | 'malformed';

export type BodyPart =
  | { readonly part: 'bytes'; readonly bytes: Uint8Array }
  | { readonly part: 'end' }
  | { readonly part: 'fault'; readonly fault: BodyFault; readonly detail: string };

/** A body that is read by pulling: what is not pulled is not read from the socket, and so the sender waits. */
export interface Body {
  /** As declared; 0 when there is none, null when only the end will tell (chunked, or until close). */
  readonly lengthBytes: number | null;
  /** The next part. After `end` or `fault` the same part again. One pull at a time. Never rejects. */
  pull(): Promise<BodyPart>;
}

/** A client's request body. */
export interface RequestBody extends Body {
  /** Bytes of content read from the client so far. */
  readonly receivedBytes: number;
  /** Why the content ended early, if it did. */
  readonly fault: BodyFault | null;
}

/** A response body; whoever does not pull it to its end must cancel it. */
export interface ResponseBody extends Body {
  /** Gives up the rest and closes the connection that it came on. Harmless after the end. */
  cancel(): void;
}

/** Where a reply goes. Nothing here throws; once the client is gone all calls are without effect. */
export interface ReplySink {
  readonly method: string;
  /** Aborts when the client's connection is gone before the reply has ended. */
  readonly gone: AbortSignal;
  readonly headSent: boolean;
  /** Bytes of content that the operating system has taken, framing not counted. */
  readonly sentBytes: number;
  /**
   * Sends the head; `fields` without framing. `lengthBytes` null: the content is ended by framing of the sink's
   * choice. `content` false: the reply has none, and `lengthBytes` is what GET would have had (RFC 9110 §8.6).
   */
  head(status: number, fields: FieldList, framing: { lengthBytes: number | null; content: boolean }): void;
  /** Takes the bytes; false: wait for `drained` before the next write. The bytes must not be changed afterwards. */
  write(bytes: Uint8Array): boolean;
  /** Settles when there is room again, or the client is gone or has read nothing for too long. */
  drained(): Promise<void>;
  /** Settles when all has been handed to the operating system or the client is gone. */
  end(): Promise<void>;
  /** Sends 101 with these fields and gives the connection as it is; null when the client is gone or never asked. */
  switchProtocols(fields: FieldList, protocol: string): Duplex | null;
  /** Cuts the connection: the client must not take what it has for the whole. */
  destroy(): void;
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

export interface UpstreamClient {
  /**
   * Sends the request and settles with the head of the response, or why there is none. Never rejects. `gone` gives
   * the exchange up at any phase, the response body included, and frees its connection.
   */
  forward(request: UpstreamRequest, body: Body, gone: AbortSignal): Promise<Forwarded>;
  /** Closes all connections, those in use too. */
  close(): Promise<void>;
}
