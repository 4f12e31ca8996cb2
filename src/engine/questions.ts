import type { FieldList } from '../http/fields.ts';
import type { ResponseHead } from '../http/heads.ts';
import type { Connection } from './connection.ts';
import type { FetchRequest, SignatureRequest } from './fetch_request.ts';
import type { OidcAnswer, OidcQuestion } from './oidc_question.ts';
import type { SharedAnswer, SharedQuestion } from './shared_question.ts';

/** A response that the edge itself produces. */
export interface LocalResponse extends ResponseHead {
  readonly body: string;
}

/** A backend that can be dialled or that responds itself: the result of resolving weighted and failover trees. */
export type Endpoint =
  | {
      readonly kind: 'static';
      readonly id: string;
      readonly host: string;
      readonly port: number;
      readonly tls: boolean;
      /** Uses HTTP/2; HTTP/1.1 if absent. */
      readonly http2?: true;
      /** The PROXY protocol version for connections of a TLS or TCP edge; absent for none. */
      readonly proxyProtocol?: 'v1' | 'v2';
      /** Id of the agent's tunnel that connections go through; host and port then mean nothing. */
      readonly tunnel?: string;
    }
  | { readonly kind: 'http_response'; readonly id: string; readonly response: LocalResponse };

/** The request to an upstream: end-to-end fields only. The forwarder adds the framing. */
export interface UpstreamRequest {
  readonly endpoint: Extract<Endpoint, { kind: 'static' }>;
  readonly method: string;
  /** Origin-form (RFC 9112 §3.2.1). */
  readonly target: string;
  readonly headers: FieldList;
  /** Names, in lower case, of fields that were removed from the head: they are removed from trailers, too. */
  readonly removed?: readonly string[] | undefined;
  /** Replaces the client's body; null streams (or replays) the client's. */
  readonly body: Uint8Array | null;
  /** The client's connection, for the agent of a tunnel. */
  readonly connection?: Connection;
  /** Protocol name if the client requested an upgrade, such as `websocket`. */
  readonly upgrade: string | null;
  /** The edge converts the WebSocket to a TCP connection; this head accepts the upgrade once that is open. */
  readonly converts?: ResponseHead;
  /** Another endpoint is tried if this one cannot be reached. */
  readonly hasNext?: true;
}

/** A question to the outside world. A driver answers with a value, never with an exception. */
export type Question =
  | { readonly ask: 'body'; readonly limitBytes: number }
  /** `converts` is that of the request, which is built on first access. */
  | { readonly ask: 'forward'; readonly request: UpstreamRequest; readonly converts: ResponseHead | null }
  | { readonly ask: 'response_body'; readonly limitBytes: number }
  | { readonly ask: 'fetch'; readonly request: FetchRequest }
  | OidcQuestion
  | { readonly ask: 'signature'; readonly request: SignatureRequest }
  | SharedQuestion
  | { readonly ask: 'reply'; readonly reply: Reply };

/** Content codings that the edge can apply. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/**
 * Changes a body chunk by chunk; the data that it holds back is bounded. Null: the body cannot be edited as
 * required, so no more of it may be sent.
 */
export interface BodyEditor {
  readonly push: (piece: Uint8Array) => Uint8Array | null;
  /** Returns the data still held back at the end of the body. */
  readonly end: () => Uint8Array | null;
}

/** Creates an editor for one body. */
export type MakeBodyEditor = () => BodyEditor;

export interface Reply extends ResponseHead {
  /** `upstream` streams the response of the last forward; text and bytes are sent as they are. */
  readonly body: 'upstream' | { readonly text: string } | { readonly bytes: Uint8Array };
  /** Applied to the body in this order, before compression; absent for none. */
  readonly editors?: readonly MakeBodyEditor[];
  /** Names, in lower case, of fields that were removed from the head: they are removed from trailers, too. */
  readonly removed?: readonly string[] | undefined;
  readonly compress: Encoding | null;
  readonly upgrade: boolean;
  /** Close the connection instead of replying. */
  readonly close: boolean;
}

/**
 * `overloaded`: the agent of the tunnel had no place for another connection. `body_…`: the client's body was late or
 * invalid; the upstream is not at fault.
 */
export type ForwardFailure =
  | 'connect'
  | 'overloaded'
  | 'timeout'
  | 'reset'
  | 'invalid'
  | 'cancelled'
  | 'body_timeout'
  | 'body_malformed'
  | 'body_extensions_too_large'
  | 'body_trailers_too_large';

export interface Answers {
  body: { readonly bytes: Uint8Array } | { readonly failure: 'too_large' | 'timeout' | 'cancelled' };
  forward:
    | { readonly head: ResponseHead; readonly reused: boolean }
    /** `isRepeatable`: nothing of a response arrived, and the request is idempotent (RFC 9110 §9.2.2). */
    | { readonly failure: ForwardFailure; readonly detail: string; readonly isRepeatable?: boolean };
  response_body: { readonly bytes: Uint8Array } | { readonly failure: 'too_large' | 'timeout' | 'reset' };
  fetch:
    | {
        readonly status: number;
        readonly headers: FieldList;
        readonly body: Uint8Array;
        readonly resolvedIp: string;
        readonly timeMs: number;
      }
    | {
        readonly failure: 'connect' | 'timeout' | 'too_large' | 'invalid' | 'redirects';
        readonly detail: string;
      };
  /** The canonical bytes covered by each signature, as text, in the order of the ids. */
  signature:
    | { readonly signed: readonly string[] }
    | { readonly failure: 'invalid' | 'unavailable'; readonly detail: string };
  oidc: OidcAnswer;
  shared: SharedAnswer;
  reply: Sent;
}

/** The driver's measurements of the reply. */
export interface Sent {
  /** Bytes of request body read from the client. */
  readonly requestBytes: number;
  /** Bytes of response body sent to the client. */
  readonly responseBytes: number;
  /** Response body before compression; equals `responseBytes` without it. */
  readonly rawResponseBytes: number;
  /** Which side cut the exchange short; `none` if it was complete. */
  readonly cut: 'none' | 'client' | 'upstream';
}

export type AnswerTo<Q extends Question> = Answers[Q['ask']];
