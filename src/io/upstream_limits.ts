import type { LookupFunction } from 'node:net';
import type { DialLimits } from './dial.ts';

export interface UpstreamLimits extends DialLimits, ExchangeLimits {
  /** Longest wait for the next bytes of a response body, in ms; 0 for no limit. */
  readonly bodyIdleMs: number;
  /** How long an unused connection is kept, in ms, unless the upstream says less (`Keep-Alive: timeout`). */
  readonly idleConnectionMs: number;
  /** Unused connections kept for each upstream. */
  readonly idleConnections: number;
  /** Longest response head, in bytes. */
  readonly headBytes: number;
  /** Looks names up; null for the system, with the times of DNS. */
  readonly lookup: LookupFunction | null;
}

export const UPSTREAM_LIMITS: UpstreamLimits = {
  connectMs: 10_000,
  headMs: 60_000,
  continueMs: 1_000,
  bodyIdleMs: 300_000,
  idleConnectionMs: 60_000,
  idleConnections: 256,
  headBytes: 1_048_576,
  verifyTls: true,
  ca: [],
  lookup: null,
};

export interface ExchangeLimits {
  /** Longest wait for a response head while it is the upstream's turn, in ms. */
  readonly headMs: number;
  /** How long an upstream that was asked whether it wants the body has for its answer, in ms. */
  readonly continueMs: number;
}
