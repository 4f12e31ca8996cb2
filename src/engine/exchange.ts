import type {
  Ask,
  Because,
  Connection,
  Edit,
  Leaf,
  Outcome,
  Question,
  Reply,
  RequestHead,
  ResponseHead,
  Sent,
  Verdict,
  World,
} from './contract.ts';
import type { Hide } from './hide.ts';
import { NO_EDITS, type Pipeline } from './pipeline.ts';
import type { EngineReason } from './refusals.ts';
import type { ServiceNaming } from './naming.ts';

const NO_EDITORS: NonNullable<Reply['editors']> = [];

/** What an exchange keeps of the configuration that it began with, however often that changes meanwhile. */
export interface Configuration {
  readonly naming: ServiceNaming;
  /** Keeps secrets out of what is told of the exchange; null where there are none. */
  readonly hide: Hide | null;
}

export interface HttpConfiguration extends Configuration {
  /** Begins an exchange with another edge of it; null where there is no other. */
  readonly beginInside: ((connection: Connection, head: RequestHead, world: World) => Exchange) | null;
}

/** One try at an upstream: which leaf, and what came of it. */
export interface Attempt {
  readonly leaf: Leaf;
  readonly reason: EngineReason;
  readonly status: number;
  readonly reused: boolean;
  readonly detail: string;
}

/** Where an exchange stands: what the next answer is for. */
export type Stage = 'request' | 'inside' | 'forward' | 'response' | 'reply' | 'done';

/**
 * One request on its way: all that was decided and measured, and where the walk stopped. Only `engine/run.ts`
 * writes to it. The verdicts are the trace: explanations and events are projections of them.
 */
export class Exchange {
  readonly configuration: HttpConfiguration;
  readonly connection: Connection;
  /** The head as the client sent it. */
  readonly head: RequestHead;
  readonly world: World;
  readonly startMs: number;
  /** Null when no route took the request. */
  readonly pipeline: Pipeline | null;
  /** Why this route was taken, or why none was. */
  readonly routed: Because<EngineReason>;

  /** The head as later handlers see it, URL edits applied. */
  request: RequestHead;
  stage: Stage = 'request';
  /** Slot that asked, while the stage is `request` or `response`. */
  asking = 0;
  pending: Ask['resume'] | null = null;
  /** Verdict of each slot in the request and in the response phase; undefined where it did not run. */
  readonly verdicts: (Verdict | undefined)[] = [];
  readonly responseVerdicts: (Verdict | undefined)[] = [];
  edits: readonly Edit[] = NO_EDITS;
  candidates: readonly Leaf[] | null = null;
  readonly attempts: Attempt[] = [];
  outcome: Outcome | null = null;
  /** The response as it stands: the upstream's at first, the client's at the end. */
  response: ResponseHead | null = null;
  /** Where the body of the reply comes from. */
  body: Reply['body'] = 'upstream';
  requestBody: Uint8Array | null = null;
  /** Accepts the WebSocket that becomes a TCP connection to the backend; null where none does. */
  converts: ResponseHead | null = null;
  logs: Readonly<Record<string, unknown>>[] | null = null;
  compress: Reply['compress'] = null;
  /** What changes the body on its way to the client. */
  editors: NonNullable<Reply['editors']> = NO_EDITORS;
  sent: Sent | null = null;
  /** Why the engine itself ended the exchange, when it did. */
  ended: Because<EngineReason> | null = null;
  question: Question | null = null;
  /** The exchange with the internal endpoint that this one was handed to. */
  inside: Exchange | null = null;

  constructor(
    configuration: HttpConfiguration,
    connection: Connection,
    head: RequestHead,
    world: World,
    pipeline: Pipeline | null,
    routed: Because<EngineReason>,
  ) {
    this.configuration = configuration;
    this.connection = connection;
    this.head = head;
    this.world = world;
    this.startMs = world.nowMs();
    this.pipeline = pipeline;
    this.routed = routed;
    this.request = head;
  }
}

/** Remembers which slot asked, and how it goes on. */
export function suspend(exchange: Exchange, index: number, asked: Ask): Question {
  exchange.asking = index;
  exchange.pending = asked.resume;
  return asked.question;
}
