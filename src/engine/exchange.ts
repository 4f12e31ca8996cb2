import type {
  Reason,
  Connection,
  Edit,
  Outcome,
  RequestHead,
  ResponseHead,
  Verdict,
  World,
  Ask,
} from './contract.ts';
import type { Endpoint, Reply, Sent } from './questions.ts';
import type { FieldList } from '../http/fields.ts';
import type { OwnCookies } from '../http/own_cookies.ts';
import type { Redact } from './redact.ts';
import { NO_EDITS, type Pipeline } from './pipeline.ts';
import type { EngineReason } from './refusals.ts';
import { type TraceContext, traceContextOf } from './trace_context.ts';
import type { Branding } from './branding.ts';

const NO_EDITORS: NonNullable<Reply['editors']> = [];
const NO_ATTEMPTS: readonly Attempt[] = Object.freeze([]);
const NO_VERDICTS: readonly undefined[] = [];

/**
 * The parts of the configuration that an exchange keeps from its start, even if the configuration changes
 * meanwhile.
 */
export interface Configuration {
  readonly branding: Branding;
  /** What redacts the secrets in traces and events that policies have read until now; null if they have read none. */
  readonly redactor: () => Redact | null;
}

export interface HttpConfiguration extends Configuration {
  /** Cookies of the login gates, which no upstream may receive or set; null without gates. */
  readonly cookies: OwnCookies | null;
  /** Starts an exchange with another edge of the configuration; null if there is no other. */
  readonly beginInside: ((connection: Connection, head: RequestHead, world: World) => Exchange) | null;
}

/** One attempt at an upstream: the endpoint and the result. */
export interface Attempt {
  readonly endpoint: Endpoint;
  readonly reason: EngineReason;
  readonly status: number;
  readonly reused: boolean;
  readonly detail: string;
}

/**
 * The client's fields and the edits of all edges that `forward-internal` has passed. An upstream's head is made of both, because
 * a field of an edge is not one of the client: `Connection` cannot remove it, nor is it dropped as a forged identity.
 */
interface EditsBefore {
  readonly headers: FieldList;
  readonly edits: readonly Edit[];
}

/** The state of an exchange: what the next answer is for. */
export type Stage = 'request' | 'inside' | 'forward' | 'response' | 'reply' | 'done';

/**
 * One request in progress: all decisions and measurements, and where processing is suspended. Only
 * `engine/run.ts` writes to it after its start. The verdicts are the trace: explanations and events are projections of them.
 */
export class Exchange {
  readonly configuration: HttpConfiguration;
  readonly connection: Connection;
  /** The head as the client sent it. */
  readonly head: RequestHead;
  readonly world: World;
  readonly startMs: number;
  /** False after a handshake that failed: the client could not send this request, and there is no event of it. */
  hasRequest = true;
  /** Null if requests are not traced. An exchange inside another has that of the other. */
  traceContext: TraceContext | null;
  /** Null if no route matched. */
  readonly pipeline: Pipeline | null;
  /** Why this route matched, or why none did. */
  readonly routed: Reason<EngineReason>;

  /** The head for later handlers, with URL edits applied. */
  request: RequestHead;
  stage: Stage = 'request';
  /** Index of the suspended handler, in the stages `request` and `response`. */
  asking = 0;
  pending: Ask['resume'] | null = null;
  /** Verdict of each handler in the request and in the response phase; undefined if it did not run. */
  readonly verdicts: (Verdict | undefined)[];
  readonly responseVerdicts: (Verdict | undefined)[];
  edits: readonly Edit[] = NO_EDITS;
  /** What the edges before this one did to the client's fields; null for the first edge. */
  before: EditsBefore | null = null;
  candidates: readonly Endpoint[] | null = null;
  attempts: readonly Attempt[] = NO_ATTEMPTS;
  outcome: Outcome | null = null;
  /** The current response: the upstream's at first, the client's at the end. */
  response: ResponseHead | null = null;
  /** Source of the reply's body. */
  body: Reply['body'] = 'upstream';
  requestBody: Uint8Array | null = null;
  /** Accepts a WebSocket that becomes a TCP connection to the backend; null otherwise. */
  converts: ResponseHead | null = null;
  logs: Readonly<Record<string, unknown>>[] | null = null;
  compress: Reply['compress'] = null;
  /** Editors of the body to the client. */
  editors: NonNullable<Reply['editors']> = NO_EDITORS;
  /** Names of fields that handlers have removed from the response. */
  removed: Reply['removed'] = undefined;
  sent: Sent | null = null;
  /** Why the engine itself ended the exchange, if it did. */
  ended: Reason<EngineReason> | null = null;
  /** The exchange with the internal endpoint that this one was forwarded to. */
  inside: Exchange | null = null;

  constructor(
    configuration: HttpConfiguration,
    connection: Connection,
    head: RequestHead,
    world: World,
    pipeline: Pipeline | null,
    routed: Reason<EngineReason>,
  ) {
    this.configuration = configuration;
    this.connection = connection;
    this.head = head;
    this.world = world;
    this.startMs = world.nowMs();
    this.traceContext = world.traces?.() === true ? traceContextOf(head.headers, world) : null;
    this.pipeline = pipeline;
    const undecided = pipeline === null ? NO_VERDICTS : pipeline.undecided;
    // Copies have their final size; V8 gives a list that grows room for many more.
    this.verdicts = undecided.slice();
    this.responseVerdicts = undecided.slice();
    this.routed = routed;
    this.request = head;
  }
}
