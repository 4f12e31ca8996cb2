import type { Place } from '../edge/explain.ts';
import type { Kept, Revision, SecondStats } from './wire.ts';

/** Figures about all of the traffic. */

/** `GET /api/overview`. Counts are since the start. */
export interface Overview {
  readonly revision: number;
  /** The time of the edge, with which the times below are compared. */
  readonly nowMs: number;
  readonly routes: readonly RouteNode[];
  readonly streams: readonly StreamNode[];
  readonly backends: readonly BackendNode[];
  /** The most frequent reasons of stops, most frequent first, at most 100. */
  readonly stops: readonly {
    readonly by: string;
    readonly code: string;
    readonly count: number;
    readonly place: Place | null;
  }[];
  /** The last 300 seconds in which anything happened. */
  readonly seconds: readonly SecondStats[];
  /** Over all exchanges since the start; null without any. */
  readonly latency: { readonly p50Ms: number; readonly p90Ms: number; readonly p99Ms: number } | null;
  readonly states: readonly StateSeries[];
  readonly revisions: readonly Revision[];
  readonly kept: Kept;
}

export interface RouteNode {
  readonly edge: string;
  readonly hosts: readonly string[];
  readonly match: string;
  readonly matchType: string;
  readonly pointer: string;
  readonly place: Place | null;
  /** Filters in the order in which they run. */
  readonly filters: readonly {
    readonly module: string;
    readonly pointer: string;
    readonly stops: number;
  }[];
  /** Ids of the backends that it can reach. */
  readonly backends: readonly string[];
  readonly hits: number;
  /** As in `SecondStats`. */
  readonly classes: readonly number[];
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface StreamNode {
  readonly edge: string;
  readonly kind: 'tls' | 'tcp';
  readonly addresses: readonly string[];
  readonly connections: number;
  readonly stops: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface BackendNode {
  readonly id: string;
  /** Where it leads: `localhost:3000`, `https://app.test`, the agent's labels. */
  readonly addresses: readonly string[];
  readonly attempts: number;
  /** Attempts without an answer, by code. */
  readonly failures: Readonly<Record<string, number>>;
  /** `down`: the last attempt failed; `unknown`: never tried. */
  readonly health: 'up' | 'down' | 'unknown';
  readonly lastFailure: { readonly atMs: number; readonly code: string; readonly detail: string } | null;
}

/** The state of a filter whose decisions depend on earlier traffic, such as a breaker or limiter, over time. */
export interface StateSeries {
  readonly module: string;
  readonly pointer: string;
  readonly place: Place | null;
  readonly label: string;
  /** Changes of the reason of its decisions, oldest first, at most 300; the last one holds now. */
  readonly changes: readonly {
    readonly atMs: number;
    readonly code: string;
    readonly verdict: 'pass' | 'stop';
    readonly message: string;
  }[];
}
