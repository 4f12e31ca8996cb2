import { expect, it } from 'vitest';
import { MIB, type Outcome } from '../../bench/soak/check.ts';
import { clientAborts } from '../../bench/soak/client_aborts.ts';
import { descriptors } from '../../bench/soak/descriptors.ts';
import { drain } from '../../bench/soak/drain.ts';
import { http2Aborts } from '../../bench/soak/http2_aborts.ts';
import { largeBodies } from '../../bench/soak/large_bodies.ts';
import { longRun } from '../../bench/soak/long_run.ts';
import { slowClients } from '../../bench/soak/slow_clients.ts';
import { upstreamFaults } from '../../bench/soak/upstream_faults.ts';
import { IS_FULL } from '../random.ts';

/** Short versions of the scripts of bench/soak, and very short ones for the fast run. */
const FACTOR = IS_FULL ? 1 : 0.1;
/** Counts are integers. */
const times = (full: number): number => Math.ceil(full * FACTOR);

// table: scripts and their short numbers
const SHORT: readonly (readonly [name: string, run: () => Promise<Outcome>])[] = [
  [
    'slow heads and idle connections leave good traffic alone',
    () =>
      slowClients({ slow: times(50), idle: times(100), seconds: FACTOR / 2, connections: 4, timed: false }),
  ],
  // Always more than the additional memory that the proxy may use (64 MiB).
  ['large content with one slow side takes no memory', () => largeBodies({ bytes: 96 * MIB })],
  ['faulty upstreams are reported, once each', () => upstreamFaults({ each: times(10) })],
  ['clients that leave at every phase leave nothing', () => clientAborts({ each: times(10) })],
  ['HTTP/2 clients that leave at every phase leave nothing', () => http2Aborts({ each: times(10) })],
  // Node itself has about twenty open; most of the limit must be left for clients.
  ['more clients than descriptors', () => descriptors({ limit: 80, clients: 200 })],
  [
    'SIGTERM under load drops nothing that was begun',
    () => drain({ connections: times(30), seconds: FACTOR / 2 }),
  ],
  [
    'a share of the peak, with no wrong answer and no descriptor more',
    () =>
      longRun({
        minutes: 0.05 * FACTOR,
        connections: 8,
        share: 0.7,
        settled: FACTOR >= 20,
        say: () => undefined,
      }),
  ],
];

// The small run has every third: each takes seconds, and proxies have tests of their own.
const chosen = SHORT.filter((_script, index) => IS_FULL || index % 3 === 0);

it.concurrent.each(chosen)('%s', async (_name, run) => {
  const { checks } = await run();
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  expect(checks.length).toBeGreaterThan(2);
});
