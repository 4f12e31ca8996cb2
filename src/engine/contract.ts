import type { FieldList } from '../http/fields.ts';
import type { Connection, TlsFacts } from './connection.ts';
import type { FetchRequest } from './fetch_request.ts';
import type { OidcAnswer, OidcQuestion } from './oidc_question.ts';

export type { Connection, FetchRequest, TlsFacts };

/** All that a handler may know of the outside: the time and chance of its front end. */
export interface World {
  /** Milliseconds since the epoch; a virtual clock in simulation. */
  nowMs(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Bytes that nobody can guess; seeded in simulation. The system's when it is left out. */
  secretBytes?(count: number): Uint8Array;
}

/** The head of a request as the client sent it, its path in the one canonical form (`http/target.ts`). */
export interface RequestHead {
  /** Case-sensitive, as received (RFC 9110 §9.1). */
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Host name, lower case, without port and without trailing dot. */
  readonly host: string;
  /** `Host` / `:authority` as received. */
  readonly authority: string;
  /** Canonical path: what routes, rules and the upstream see. */
  readonly path: string;
  /** Without the question mark; undefined when there is none (`/a?` has the empty string). */
  readonly query: string | undefined;
  /** Path and query as the client sent them: what some senders of webhooks sign. Nothing is decided by it. */
  readonly sentTarget: string;
  readonly version: '1.0' | '1.1' | '2.0';
  readonly headers: FieldList;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: FieldList;
}

/** A response that the edge makes itself. */
export interface LocalResponse extends ResponseHead {
  readonly body: string;
}

export type Fact = string | number | boolean | null;

/** Why a verdict came about: a code that the module declares, facts, and the place in the configuration. */
export interface Because<Code extends string = string> {
  readonly code: Code;
  readonly detail: Readonly<Record<string, Fact>>;
  /** JSON pointer of the rule that decided, where one did. */
  readonly pointer?: string;
}

/** Effects as data. `engine/edits.ts` applies those of heads, the driver performs the transform. */
export type Edit =
  /** Removes all values of fields, then adds fields. Names in lower case. */
  | {
      readonly edit: 'headers';
      readonly on: 'request' | 'response';
      readonly remove: readonly string[];
      readonly add: FieldList;
    }
  | { readonly edit: 'target'; readonly path: string; readonly query: string | undefined }
  | { readonly edit: 'backend'; readonly candidates: readonly Leaf[] }
  | { readonly edit: 'compress'; readonly algorithm: Encoding }
  /** Replaces the request's body, which a handler has asked for before. */
  | { readonly edit: 'request_body'; readonly bytes: Uint8Array }
  | { readonly edit: 'response_body'; readonly bytes: Uint8Array }
  /** Changes the response's body while it flows, before it is compressed. */
  | { readonly edit: 'response_flow'; readonly editor: MakeBodyEditor }
  /** Makes a TCP connection to the backend of a WebSocket, which is accepted by this head. */
  | { readonly edit: 'convert'; readonly head: ResponseHead }
  /** A record for the event's `traffic_policy.logs`. */
  | { readonly edit: 'log'; readonly metadata: Readonly<Record<string, unknown>> };

/** Content codings that the edge can apply. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/**
 * Changes a body piece by piece; what it holds back is bounded. Null: the body cannot be changed as it must be, so
 * nothing more of it may be sent.
 */
export interface BodyEditor {
  readonly push: (piece: Uint8Array) => Uint8Array | null;
  /** What was held back when the body ended. */
  readonly end: () => Uint8Array | null;
}

/** An editor belongs to one body. */
export type MakeBodyEditor = () => BodyEditor;

/** A step inside a handler that has parts of its own, such as a rule or an action of a traffic policy. */
export interface InnerStep {
  /** `rule` or `action`, and how a person names it. */
  readonly kind: string;
  readonly name: string;
  readonly code: string;
  readonly says: string;
  readonly detail: Readonly<Record<string, Fact>>;
  readonly pointer: string;
}

export interface Pass<Code extends string = string> {
  readonly verdict: 'pass';
  readonly because: Because<Code>;
  readonly edits?: readonly Edit[];
  readonly inner?: readonly InnerStep[];
  /** What the same handler gets back in the response phase of this exchange. */
  readonly carry?: unknown;
}

export interface Stop<Code extends string = string> {
  readonly verdict: 'stop';
  readonly because: Because<Code>;
  readonly response: LocalResponse;
  /** Header edits and logs that count although the request stops. */
  readonly edits?: readonly Edit[];
  readonly inner?: readonly InnerStep[];
  readonly carry?: unknown;
  /** The response is a real one (a custom response): the response phase runs over it. Default: it does not. */
  readonly continues?: boolean;
  /** Close the connection without any response. */
  readonly close?: boolean;
  /** Hand the request to another edge of this configuration; `response` is for where there is none. */
  readonly forward?: InternalTarget;
}

/** An internal endpoint that a request is handed to: an edge of the same configuration, by its host. */
export interface InternalTarget {
  /** Lower case, ends in `.internal`. */
  readonly host: string;
  readonly path: string;
  readonly query: string | undefined;
}

export type Verdict<Code extends string = string> = Pass<Code> | Stop<Code>;

/** A backend that can be dialled or that answers by itself: what weighted and failover trees resolve to. */
export type Leaf =
  | {
      readonly kind: 'static';
      readonly id: string;
      readonly host: string;
      readonly port: number;
      readonly tls: boolean;
      /** HTTP/2 is spoken to it; HTTP/1.1 when absent. */
      readonly http2?: true;
      /** The PROXY protocol header that a connection of a TLS or TCP edge begins with; none when absent. */
      readonly proxyProtocol?: 'v1' | 'v2';
    }
  | { readonly kind: 'http_response'; readonly id: string; readonly response: LocalResponse };

/** The request as it goes to an upstream: end-to-end fields only. Framing is the forwarder's alone. */
export interface UpstreamRequest {
  readonly leaf: Extract<Leaf, { kind: 'static' }>;
  readonly method: string;
  /** Origin-form (RFC 9112 §3.2.1). */
  readonly target: string;
  readonly headers: FieldList;
  /** Sent in place of the client's body; null streams (or replays) that one. */
  readonly body: Uint8Array | null;
  /** Protocol name when the client asked for an upgrade, such as `websocket`. */
  readonly upgrade: string | null;
  /** The WebSocket ends here and becomes a TCP connection to the backend; answered by this head once that is there. */
  readonly converts?: ResponseHead;
}

/** What only the world knows. A driver answers each question with a value, never with an exception. */
export type Question =
  | { readonly ask: 'body'; readonly limitBytes: number }
  | { readonly ask: 'forward'; readonly request: UpstreamRequest }
  | { readonly ask: 'response_body'; readonly limitBytes: number }
  | { readonly ask: 'fetch'; readonly request: FetchRequest }
  | OidcQuestion
  | { readonly ask: 'signature'; readonly request: SignatureRequest }
  | { readonly ask: 'reply'; readonly reply: Reply };

export interface Reply extends ResponseHead {
  /** `upstream` streams what the last forward answered; text and bytes are sent as they are. */
  readonly body: 'upstream' | { readonly text: string } | { readonly bytes: Uint8Array };
  /** Applied to the body in this order, before it is compressed; none when absent. */
  readonly editors?: readonly MakeBodyEditor[];
  readonly compress: Encoding | null;
  readonly upgrade: boolean;
  /** Close the connection instead of replying. */
  readonly close: boolean;
}

/** Signatures of an XML message that a maintained library has to verify: all of these, by any of these certificates. */
export interface SignatureRequest {
  readonly xml: string;
  /** Ids of the elements that carry a signature of their own. */
  readonly ids: readonly string[];
  /** PEM texts of the certificates that are trusted. */
  readonly certificates: readonly string[];
}

/** `body_…`: it was the client's body that did not come, or was none; the upstream is not to blame. */
export type ForwardFailure =
  | 'connect'
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
    | { readonly failure: ForwardFailure; readonly detail: string };
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
  /** The canonical bytes that each signature is over, as text, in the order of the ids. */
  signature:
    | { readonly signed: readonly string[] }
    | { readonly failure: 'invalid' | 'unavailable'; readonly detail: string };
  oidc: OidcAnswer;
  reply: Sent;
}

/** What the driver measured while it sent the reply. */
export interface Sent {
  /** Bytes of request body read from the client. */
  readonly requestBytes: number;
  /** Bytes of response body sent to the client. */
  readonly responseBytes: number;
  /** Response body before compression; equals `responseBytes` without it. */
  readonly rawResponseBytes: number;
  /** Who cut the exchange short, if anyone did; `none` when it ran to its end. */
  readonly cut: 'none' | 'client' | 'upstream';
}

export type AnswerTo<Q extends Question> = Answers[Q['ask']];

/** A handler that cannot decide alone: its question, and how it goes on with the answer. */
export interface Ask<Q extends Question = Question> {
  readonly verdict: 'ask';
  readonly question: Q;
  readonly resume: (answer: AnswerTo<Q>) => Verdict | Ask;
}

/** Suspends a handler on one question; `resume` is called with its answer, exactly once. */
export function ask<Q extends Question>(question: Q, resume: (answer: AnswerTo<Q>) => Verdict | Ask): Ask {
  return { verdict: 'ask', question, resume: resume as Ask['resume'] };
}

/** What a stateful handler learns; `reduce` is the only place where its state changes. */
export type Happening =
  | { readonly kind: 'decided'; readonly verdict: Verdict }
  | { readonly kind: 'concluded'; readonly verdict: Verdict; readonly outcome: Outcome };

/** How the upstream fared: `failure` is a status of 500 or more, or no response; `cancelled` proves nothing. */
export type Outcome = 'success' | 'failure' | 'cancelled';

/** A module compiled once from one config: immutable. The hooks present are the phases joined. */
export interface Handler<State = never> {
  /** Beginnings of paths that are this handler's on all routes of its edge: where a login comes back to. */
  readonly reserves?: readonly string[];
  /** On a connection of a TLS or TCP edge, before anything of it is passed on. */
  readonly onConnection?: (connection: Connection, state: State, world: World) => Verdict | Ask;
  readonly onRequest?: (
    request: RequestHead,
    connection: Connection,
    state: State,
    world: World,
  ) => Verdict | Ask;
  /** `carry` is what the handler's own request-phase verdict left for this moment. */
  readonly onResponse?: (
    response: ResponseHead,
    request: RequestHead,
    connection: Connection,
    world: World,
    carry: unknown,
  ) => Verdict | Ask;
  /** Makes the first state; present exactly when `reduce` is. */
  readonly initial?: () => unknown;
  readonly reduce?: (state: State, happening: Happening, world: World) => void;
}
