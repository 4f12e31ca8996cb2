import type { AwsCredentials } from '../../crypto/aws_signature.ts';

/** What became of a batch. */
export interface Sent {
  /** Why the attempt failed, fully or for some events; null if it did not. */
  readonly problem: string | null;
  /** Indexes of events to send again; default: all but the dead ones if there is a problem, otherwise none. */
  readonly again?: readonly number[];
  /** Events that the destination will never accept. */
  readonly dead?: readonly { readonly index: number; readonly reason: string }[];
  /** The destination asked for this delay. */
  readonly afterMs?: number;
  /** The batch is refused as it is, such as for its size: a smaller one is sent, and a single event is dead. */
  readonly divide?: true;
  /** Something to report although nothing is sent again. */
  readonly notice?: string;
}

/** Limits of a batch. Sizes are bytes of the events as JSON, with the overhead of each. */
export interface BatchLimits {
  readonly events: number;
  readonly bytes: number;
  readonly eventBytes: number;
  readonly overheadBytes: number;
  /** How long a batch that is not full waits for further events; default 0. */
  readonly lingerMs?: number;
}

/** A destination of event batches. */
export interface Target {
  /** Why nothing can be sent, or null. */
  readonly problem: string | null;
  readonly limits?: BatchLimits;
  /** Whether traffic events for it carry the facts of their span as the member `span`. */
  readonly wantsSpans?: true;
  /** The longest delay between attempts; default a minute. */
  readonly retryLimitMs?: number;
  /** Sends events as JSON texts. Errors count as problems. */
  readonly send: (events: readonly string[]) => Promise<Sent>;
  /** Aborts the current request; its events count as undelivered. */
  readonly giveUp: () => void;
  readonly close: () => Promise<void>;
}

/** A request to a destination. */
interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT';
}

export interface Posted {
  readonly status: number;
  /** The body as text and as bytes; empty if it is longer than 1 MiB. */
  readonly body: string;
  readonly bytes: Uint8Array;
  /** Seconds or a date (RFC 9110 §10.2.3). */
  readonly retryAfter?: string;
}

/** Sends requests to destinations. */
export interface PostingWorld {
  readonly nowMs: () => number;
  /**
   * Sends a request; rejects if there is no response. Follows no redirects and restricts the reachable addresses.
   */
  readonly post: (url: string, posting: Posting) => Promise<Posted>;
}

export interface NatsSettings {
  readonly servers: readonly string[];
  readonly subject: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
}

export interface KafkaSettings {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly tls: boolean;
  readonly sasl?: { readonly mechanism: string; readonly username: string; readonly password: string };
}

interface QueueMessage {
  readonly id: string;
  readonly value: string;
}

/** Clients of queues, restricted to the reachable addresses. */
interface Queues {
  readonly nats: (settings: NatsSettings) => {
    /** Resolves to the outcome of each message: null if it is stored. Rejects if the connection fails. */
    readonly publish: (
      messages: readonly QueueMessage[],
    ) => Promise<readonly ({ readonly problem: string; readonly isFinal: boolean } | null)[]>;
    readonly close: () => Promise<void>;
  };
  readonly kafka: (settings: KafkaSettings) => {
    /** Resolves to null if all are stored. */
    readonly publish: (
      messages: readonly (QueueMessage & { readonly key: string })[],
    ) => Promise<{ readonly problem: string; readonly isTooLarge: boolean } | null>;
    readonly close: () => Promise<void>;
  };
}

/** What the operator gives to cloud destinations. */
export interface CloudWorld extends PostingWorld {
  readonly queues?: Queues;
  readonly aws?: {
    /** Credentials that may assume the roles of destinations. */
    readonly credentials?: AwsCredentials;
    /** Sent to STS, so that a role can refuse other accounts. */
    readonly externalId?: string;
  };
  /** Replaces the address of a service, such as `kinesis`, `sts`, `datadog` or `azure_login`. */
  readonly endpoint?: (service: string) => string | undefined;
}

const REQUEST_MS = 15_000;

/** Requests that end with `giveUp`, or after a time. */
export function requests({ post, nowMs }: PostingWorld) {
  const ending = new AbortController();
  return {
    nowMs,
    giveUp: () => ending.abort(),
    post: (url: string, posting: Omit<Posting, 'signal'>): Promise<Posted> =>
      post(url, { ...posting, signal: AbortSignal.any([ending.signal, AbortSignal.timeout(REQUEST_MS)]) }),
  };
}

export type Requests = ReturnType<typeof requests>;

const LONGEST_RETRY_AFTER_MS = 300_000;
const PROBLEM_LENGTH = 200;

/** A response that accepted nothing. */
export function refusal(service: string, { status, body, retryAfter }: Posted, nowMs: number): Sent {
  const words = body.replaceAll(/\s+/g, ' ').slice(0, PROBLEM_LENGTH);
  const problem = `${service} answered ${status}${words === '' ? '' : `: ${words}`}`;
  const afterMs = delayOf(retryAfter, nowMs);
  return { problem, ...(afterMs !== null && { afterMs }), ...(status === 413 && { divide: true }) };
}

function delayOf(retryAfter: string | undefined, nowMs: number): number | null {
  if (retryAfter === undefined) return null;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, ms));
}

/** A target that sends nothing and reports why. */
export function withoutSender(problem: string): Target {
  return { problem, send: async () => ({ problem }), giveUp: () => {}, close: async () => {} };
}

/** The part of an event that senders read. */
export interface Envelope {
  readonly event_id: string;
  readonly event_type: string;
  readonly event_timestamp: string;
}

export function envelopeOf(event: string): Envelope {
  return JSON.parse(event) as Envelope;
}
