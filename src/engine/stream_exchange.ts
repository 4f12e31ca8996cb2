import type { Reason, Ask, Connection, InternalAddress, Outcome, Verdict, World } from './contract.ts';
import type { Configuration } from './exchange.ts';
import type { FilterRow } from './pipeline.ts';
import type { Endpoint } from './questions.ts';
import type { StreamReason } from './refusals.ts';

/** The handlers of one TLS or TCP edge, in table order. */
export interface StreamPipeline extends FilterRow {
  readonly kind: 'tls' | 'tcp';
}

/** Measurements, and which side broke the connection, if any. */
export interface Relayed {
  /** Bytes from the client, without a handshake. */
  readonly bytesIn: number;
  /** Bytes sent to the client. */
  readonly bytesOut: number;
  readonly cut: 'none' | 'client' | 'upstream' | 'idle' | 'drain';
}

export const NOTHING_RELAYED: Relayed = { bytesIn: 0, bytesOut: 0, cut: 'none' };

export interface StreamAttempt {
  readonly endpoint: Endpoint;
  readonly reason: 'upstream.connected' | 'upstream.connect' | 'upstream.not_dialled';
  readonly detail: string;
}

export interface StreamConfiguration extends Configuration {
  /** Starts an exchange with an internal endpoint of the configuration. */
  readonly beginStreamInside: (connection: Connection, at: InternalAddress, world: World) => StreamExchange;
}

/** One connection: all decisions and measurements. Only `stream.ts` writes to it. */
export class StreamExchange {
  readonly configuration: StreamConfiguration;
  readonly connection: Connection;
  readonly world: World;
  /** Null if no edge matched. */
  readonly pipeline: StreamPipeline | null;
  readonly routed: Reason<StreamReason>;
  readonly verdicts: (Verdict | undefined)[] = [];
  readonly attempts: StreamAttempt[] = [];
  stage: 'decide' | 'inside' | 'dial' | 'relay' | 'close' | 'done' = 'decide';
  asking = 0;
  pending: Ask['resume'] | null = null;
  candidates: readonly Endpoint[] | null = null;
  logs: Readonly<Record<string, unknown>>[] | null = null;
  relayed: Relayed | null = null;
  /** Why the engine itself ended the connection, if it did. */
  ended: Reason<StreamReason> | null = null;
  outcome: Outcome | null = null;
  /** The exchange with the internal endpoint that this one was forwarded to. */
  inside: StreamExchange | null = null;
  /** The address by which the connection was forwarded here; null if it came from outside. */
  forwardedTo: InternalAddress | null = null;

  constructor(
    configuration: StreamConfiguration,
    connection: Connection,
    world: World,
    pipeline: StreamPipeline | null,
    routed: Reason<StreamReason>,
  ) {
    this.configuration = configuration;
    this.connection = connection;
    this.world = world;
    this.pipeline = pipeline;
    this.routed = routed;
  }
}

/** Whether a backend took the connection. */
export function isAllowed({ attempts }: StreamExchange): boolean {
  return attempts.at(-1)?.reason === 'upstream.connected';
}
