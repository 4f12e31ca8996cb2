import type { FieldList } from '../http/fields.ts';
import type { RequestHead, ResponseHead } from '../http/heads.ts';
import type { Connection, TlsFacts } from './connection.ts';
import type { FetchRequest, SignatureRequest } from './fetch_request.ts';
import type { AnswerTo, Encoding, Endpoint, LocalResponse, MakeBodyEditor, Question } from './questions.ts';

export type { Connection, FetchRequest, RequestHead, ResponseHead, SignatureRequest, TlsFacts };

/** All outside inputs of a handler: the time and randomness of its front end. */
export interface World {
  /** Milliseconds since the epoch; a virtual clock in simulation. */
  nowMs(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Cryptographically random bytes; seeded in simulation. Default: the system's. */
  secretBytes?(count: number): Uint8Array;
  /** Whether requests that begin now are part of traces. Default: they are not. */
  traces?(): boolean;
  /** Whether limits, one-time ids and ends of sessions are shared with other processes: handlers then ask for them. */
  readonly sharesState?: boolean;
  /** Online tunnels of a backend, which carry all of its labels; an unchanged list is the same object. Default: none. */
  tunnels?(backend: string, labels: Readonly<Record<string, string>>): readonly Endpoint[];
}

export type Fact = string | number | boolean | null;

/** The reason of a verdict: a code that the module declares, facts, and the pointer into the configuration. */
export interface Reason<Code extends string = string> {
  readonly code: Code;
  readonly detail: Readonly<Record<string, Fact>>;
  /** JSON pointer of the rule that decided, if any. */
  readonly pointer?: string;
}

/** Effects as data. `engine/edits.ts` applies header edits, the driver applies body transforms. */
export type Edit =
  /** Removes all values of fields, then adds fields. Names in lower case. */
  | {
      readonly edit: 'headers';
      readonly on: 'request' | 'response';
      readonly remove: readonly string[];
      readonly add: FieldList;
    }
  | { readonly edit: 'target'; readonly path: string; readonly query: string | undefined }
  | { readonly edit: 'backend'; readonly candidates: readonly Endpoint[] }
  | { readonly edit: 'compress'; readonly algorithm: Encoding }
  /** Replaces the request body, which the handler has read before. */
  | { readonly edit: 'request_body'; readonly bytes: Uint8Array }
  | { readonly edit: 'response_body'; readonly bytes: Uint8Array }
  /** Changes the response body while it streams, before compression. */
  | { readonly edit: 'response_flow'; readonly editor: MakeBodyEditor }
  /** Converts a WebSocket into a TCP connection to the backend; the upgrade is accepted with this head. */
  | { readonly edit: 'convert'; readonly head: ResponseHead }
  /** A record for the event's `traffic_policy.logs`. */
  | { readonly edit: 'log'; readonly metadata: Readonly<Record<string, unknown>> };

/** A step inside a handler that has parts, such as a rule or an action of a traffic policy. */
export interface InnerStep {
  /** `rule` or `action`, and its display name. */
  readonly kind: string;
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, Fact>>;
  readonly pointer: string;
}

export interface Pass<Code extends string = string> {
  readonly verdict: 'pass';
  readonly reason: Reason<Code>;
  readonly edits?: readonly Edit[];
  readonly inner?: readonly InnerStep[];
  /** Data passed to the same handler in the response phase of this exchange. */
  readonly filterData?: unknown;
}

export interface Stop<Code extends string = string> {
  readonly verdict: 'stop';
  readonly reason: Reason<Code>;
  readonly response: LocalResponse;
  /** Header edits and logs that apply although the request stops. */
  readonly edits?: readonly Edit[];
  readonly inner?: readonly InnerStep[];
  readonly filterData?: unknown;
  /** The response runs through the response phase (a custom response). Default: it does not. */
  readonly continues?: boolean;
  /** Close the connection without a response. */
  readonly close?: boolean;
  /** Forward to another edge of this configuration; `response` is used if there is no such edge. */
  readonly forward?: InternalTarget | InternalAddress;
}

/** An internal endpoint of connections: a TLS or TCP edge of the same configuration, by its address. */
export interface InternalAddress {
  readonly kind: 'tls' | 'tcp';
  /** Lower case, ends in `.internal`. */
  readonly host: string;
  readonly port: number;
}

/** An internal endpoint of requests: an HTTPS edge of the same configuration, by its host. */
export interface InternalTarget {
  /** Lower case, ends in `.internal`. */
  readonly host: string;
  readonly path: string;
  readonly query: string | undefined;
}

export type Verdict<Code extends string = string> = Pass<Code> | Stop<Code>;

/** Stands for a verdict that needs an answer first; `resume` is called with the answer, exactly once. */
export interface Ask<Result = Verdict> {
  readonly verdict: 'ask';
  readonly question: Question;
  readonly resume: (answer: AnswerTo<Question>) => Result | Ask<Result>;
}

/** Suspends a handler, an action or a login on one question. */
export function ask<Q extends Question, Result = Verdict>(
  question: Q,
  resume: (answer: AnswerTo<Q>) => Result | Ask<Result>,
): Ask<Result> {
  return { verdict: 'ask', question, resume: resume as Ask<Result>['resume'] };
}

/** The part of an exchange that a stateful handler is notified of (decision 0021). */
export type StateEvent =
  | { readonly kind: 'decided'; readonly verdict: Verdict }
  | { readonly kind: 'concluded'; readonly verdict: Verdict; readonly outcome: Outcome };

/** The outcome at the upstream: `failure` is a status of 500 or more, or no response; `cancelled` is neutral. */
export type Outcome = 'success' | 'failure' | 'cancelled';

/** A module compiled from one config: immutable. It takes part in the phases that it has a function for. */
export interface Handler<State = never> {
  /** What it consists of besides itself: the actions of a policy. */
  readonly parts?: readonly HandlerPart[];
  /** Path prefixes that this handler serves on all routes of its edge, such as login callbacks. */
  readonly reserves?: readonly string[];
  /** Runs on a connection of a TLS or TCP edge, before any data is forwarded. */
  readonly onConnection?: (connection: Connection, state: State, world: World) => Verdict | Ask;
  readonly onRequest?: (
    request: RequestHead,
    connection: Connection,
    state: State,
    world: World,
  ) => Verdict | Ask;
  /** `filterData` is the data from the handler's own request-phase verdict. */
  readonly onResponse?: (
    response: ResponseHead,
    request: RequestHead,
    connection: Connection,
    world: World,
    filterData: unknown,
  ) => Verdict | Ask;
  /** Creates the initial state. `identity` names it: equal on all nodes with the same configuration. */
  readonly initial?: (identity: () => string) => unknown;
  /** Changes the state by the outcome of a request; state may also change when the decision is made. */
  readonly reduce?: (state: State, event: StateEvent, world: World) => void;
}

/** A configured part of a filter, such as an action of a traffic policy. */
export interface HandlerPart {
  readonly type: string;
  readonly pointer: string;
  /** As `compile` got it: aliases resolved, defaults filled in. */
  readonly config: unknown;
}
