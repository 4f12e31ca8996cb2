import { type Workload, isLarge } from './workloads.ts';

/** A goal relative to a peer: at least this throughput, or at most this p99, as multiples of the peer's. */
export interface Goal {
  readonly peer: string;
  readonly of: 'throughput' | 'p99';
  readonly times: number;
}

// table: goals of the three bare workloads over HTTP/1.1
const BARE: readonly Goal[] = [
  { peer: 'nginx', of: 'throughput', times: 0.9 },
  { peer: 'nginx', of: 'p99', times: 1.5 },
  { peer: 'caddy', of: 'throughput', times: 3 },
  { peer: 'undici', of: 'throughput', times: 1.6 },
  { peer: 'fast-proxy', of: 'throughput', times: 1.9 },
  { peer: 'http-proxy-3', of: 'throughput', times: 2.8 },
];

// table: goals with all modules on
const ALL_ON: readonly Goal[] = [
  { peer: 'nginx', of: 'throughput', times: 1 },
  { peer: 'haproxy', of: 'throughput', times: 0.9 },
  { peer: 'undici_obvious', of: 'throughput', times: 6 },
];

// table: goals with content of a MiB and more
const LARGE: readonly Goal[] = [{ peer: 'nginx', of: 'throughput', times: 0.9 }];

/** With all modules on, at least this multiple of nginx is required. */
export const LEAST_BESIDE_NGINX = 0.9;

export const START_MS_AT_MOST = 100;
export const IDLE_RSS_MB_AT_MOST = 110;

/** The goals of a workload, if any. */
export function goalsOf(workload: Workload): readonly Goal[] {
  const { allOn, protocol, perConnection } = workload;
  if (isLarge(workload)) return LARGE;
  if (allOn) return ALL_ON;
  return protocol === 'http1' && perConnection === 0 ? BARE : [];
}
