import type { LookupFunction } from 'node:net';
import { RESPONSE_HEAD_MS, WIRE_LIMITS } from '../http/message_limits.ts';
import type { Deadlines } from './deadlines.ts';
import type { DialLimits } from './dial.ts';

export interface UpstreamLimits extends DialLimits, ExchangeLimits {
  /** Maximum wait for the next bytes of a response body, in ms; 0 for no limit. */
  readonly bodyIdleMs: number;
  /**
   * How long an idle connection is kept, in ms, unless the upstream asks for less (`Keep-Alive: timeout`).
   */
  readonly idleConnectionMs: number;
  /** Maximum number of idle connections per upstream. */
  readonly idleConnections: number;
  /** Maximum length of a response head, in bytes. */
  readonly headBytes: number;
  /** How long a request waits for an upstream that cannot be reached, trying again, in ms; 0 for not at all. */
  readonly waitMs: number;
  /** Resolves names; null for the system's lookup with DNS lifetimes. */
  readonly lookup: LookupFunction | null;
}

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectMs: 10_000,
  headMs: RESPONSE_HEAD_MS,
  continueMs: 1_000,
  bodyIdleMs: 300_000,
  idleConnectionMs: 60_000,
  idleConnections: 256,
  headBytes: WIRE_LIMITS.headBytes,
  verifyTls: true,
  ca: [],
  waitMs: 0,
  openTunnel: null,
  lookup: null,
};

export interface ExchangeLimits {
  /** Maximum wait for a response head once the request has been sent, in ms. */
  readonly headMs: number;
  /** How long an upstream may take to answer `Expect: 100-continue`, in ms. */
  readonly continueMs: number;
}

/** Limits of one exchange over HTTP/2. */
export interface Http2Limits extends ExchangeLimits {
  readonly bodyIdleMs: number;
  readonly deadlines: Deadlines;
}
