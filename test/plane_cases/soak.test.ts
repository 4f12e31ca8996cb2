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

/** The scripts of bench/soak in short; `SOAK_FACTOR=10` makes them ten times as large. */
const FACTOR = Number(process.env['SOAK_FACTOR'] ?? 1);

// table: scripts and their short numbers
const SHORT: readonly (readonly [name: string, run: () => Promise<Outcome>])[] = [
  [
    'slow heads and idle connections leave good traffic alone',
    () => slowClients({ slow: 50 * FACTOR, idle: 100 * FACTOR, seconds: 0.5, connections: 4, timed: false }),
  ],
  ['large content with one slow side takes no memory', () => largeBodies({ bytes: 96 * MIB * FACTOR })],
  ['faulty upstreams are told, once each', () => upstreamFaults({ each: 10 * FACTOR })],
  ['clients that leave at every phase leave nothing', () => clientAborts({ each: 10 * FACTOR })],
  ['HTTP/2 clients that leave at every phase leave nothing', () => http2Aborts({ each: 10 * FACTOR })],
  ['more clients than descriptors', () => descriptors({ limit: 80 * FACTOR, clients: 200 * FACTOR })],
  [
    'SIGTERM under load drops nothing that was begun',
    () => drain({ connections: 30 * FACTOR, seconds: 0.5 }),
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

it.concurrent.each(SHORT)('%s', async (_name, run) => {
  const { checks } = await run();
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
  expect(checks.length).toBeGreaterThan(2);
});
