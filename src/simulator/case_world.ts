import { type LocatedStep, explanationOf } from '../edge/explain.ts';
import { decidingStep } from '../engine/trace.ts';
import type { CompiledCase } from './compile_case.ts';
import type { Expectation } from './expect/expectation.ts';
import type { ExpressionValues } from './expect/expression_values.ts';
import type { Mismatch } from './expect/mismatch.ts';
import type { Outcome } from './expect/outcome.ts';
import type { Flight } from './flight.ts';
import type { Snapshot } from './result.ts';
import type { ConnectionOutcome } from './run_connect.ts';
import { type SimulatedWorld, type WorldOptions, putUpstreams, simulatedWorld } from './simulator.ts';
import type { EdgeUnderTest } from './under_test.ts';

/** What came of a case. */
export interface Ran {
  readonly mismatches: readonly Mismatch[];
  /** The request whose expectations failed first, explained; null when none did, or when there was none. */
  readonly explained: {
    readonly because: LocatedStep;
    readonly steps: readonly LocatedStep[];
    readonly request: string;
    /** Values of the parts of every expression that was evaluated. */
    readonly values: readonly ExpressionValues[];
    /** Position of the request among all of the case; 0 of a connection. */
    readonly index: number;
  } | null;
  /** The request of a case of one, for near misses. */
  readonly outcome: Outcome | null;
  /** What each expectation `snapshot` would be. */
  readonly snapshots: readonly Snapshot[];
  readonly requests: number;
  /** Scripts that were asked. */
  readonly used: ReadonlySet<string>;
  readonly shares: Readonly<Record<string, string>> | null;
}

/** How a case is run beyond what it says itself. */
export interface RunOptions {
  /** Called with each finished request, in order. */
  readonly landed?: (flight: Flight) => void;
  readonly begin?: WorldOptions['begin'];
  /** Called with each request before anything is decided about it. */
  readonly sent?: (flight: Flight) => void;
  /** Called with each connection that was made. */
  readonly connected?: (outcome: ConnectionOutcome) => void;
}

/** The world that a case begins in. */
export function worldOf(
  { startMs, seed, headMs, upstreams, identities }: CompiledCase,
  edge: EdgeUnderTest,
  options: RunOptions,
  random?: () => number,
): SimulatedWorld {
  const world = simulatedWorld(edge.fresh(), {
    startMs,
    seed,
    ...(headMs >= 0 && { limits: { headMs } }),
    ...(random && { random }),
    ...(identities && { identities }),
    ...(options.begin && { begin: options.begin }),
    ...(options.sent && { sent: options.sent }),
    landed: (flight) => {
      edge.touched(flight.exchange);
      options.landed?.(flight);
    },
  });
  putUpstreams(world.upstreams, upstreams);
  return world;
}

/** What is not as it was expected. */
export function failuresOf(expectations: readonly Expectation[], outcome: Outcome): Mismatch[] {
  const found: Mismatch[] = [];
  for (const expectation of expectations) {
    const mismatch = expectation(outcome);
    if (mismatch !== null) found.push(mismatch);
  }
  return found;
}

/** How a request was decided, for whoever has to mend it. */
export function explain({ flight }: Outcome, edge: EdgeUnderTest): Ran['explained'] {
  const { steps, request } = explanationOf(flight.exchange, edge.locate);
  const because = decidingStep(steps) as LocatedStep;
  return {
    because,
    steps,
    request: `${request.method} ${request.url} from ${request.clientIp}`,
    values: [],
    index: flight.index,
  };
}
