import { type LocatedStep, explanationOf, subjectOf } from '../edge/explain.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { CompiledCase } from './compile_case.ts';
import type { Expectation } from './expect/expectation_context.ts';
import type { ExpressionValues } from './expect/expression_values.ts';
import type { Mismatch, Snapshot } from './result.ts';
import type { Outcome } from './expect/outcome.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import type { ConnectionOutcome } from './run_connect.ts';
import { type SimulatedWorld, type WorldOptions, changeWorld, simulatedWorld } from './simulator.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';

/** The result of a case. */
export interface Ran {
  readonly mismatches: readonly Mismatch[];
  /** The request whose expectations failed first, explained; null if none failed, or there was no request. */
  readonly explained: {
    readonly decidedBy: LocatedStep;
    readonly steps: readonly LocatedStep[];
    readonly request: string;
    /** Values of the parts of every evaluated expression. */
    readonly values: readonly ExpressionValues[];
    /** Index of the request within the case; 0 for a connection. */
    readonly index: number;
  } | null;
  /** The request of a case with a single request, for near misses. */
  readonly outcome: Outcome | null;
  /** The value for each expectation `snapshot`. */
  readonly snapshots: readonly Snapshot[];
  readonly requests: number;
  /** Scripts that were used. */
  readonly used: ReadonlySet<string>;
  readonly shares: Readonly<Record<string, string>> | null;
  /** Whether its result may depend on the seed. */
  readonly usesChance: boolean;
}

/** Options of a run that the case itself does not contain. */
export interface RunOptions {
  /** Called with each finished request, in order. */
  readonly completed?: (simulated: SimulatedRequest) => void;
  readonly begin?: WorldOptions['begin'];
  /** Called with each request before any decision about it. */
  readonly sent?: (simulated: SimulatedRequest) => void;
  /** Called with each completed connection. */
  readonly connected?: (outcome: ConnectionOutcome) => void;
}

/** The initial world of a case. */
export function worldOf(
  compiled: CompiledCase,
  edge: EdgeFixture,
  options: RunOptions,
  random?: () => number,
): SimulatedWorld {
  const { startMs, seed, headMs, identities } = compiled;
  const world = simulatedWorld(edge, {
    startMs,
    seed,
    ...(headMs >= 0 && { limits: { headMs } }),
    ...(random && { random }),
    ...(identities && { identities }),
    ...(compiled.nodes && { nodes: compiled.nodes }),
    ...(options.begin && { begin: options.begin }),
    ...(options.sent && { sent: options.sent }),
    completed: (simulated) => {
      edge.touched(simulated.exchange, simulated.served === null);
      options.completed?.(simulated);
    },
  });
  if (compiled.fileUpstreams !== undefined) world.upstreams.share(compiled.fileUpstreams);
  changeWorld(world, compiled);
  return world;
}

/** The unmet expectations. */
export function failuresOf(expectations: readonly Expectation[], outcome: Outcome): Mismatch[] {
  const found: Mismatch[] = [];
  for (const expectation of expectations) {
    const mismatch = expectation(outcome);
    if (mismatch !== null) found.push(mismatch);
  }
  return found;
}

/** How a request or a connection was decided, for the failure report. */
export function explain(
  { exchange, index }: { readonly exchange: Exchange | StreamExchange; readonly index: number },
  edge: EdgeFixture,
): Ran['explained'] {
  const explanation = explanationOf(exchange, edge.locate);
  const { decidedBy, steps } = explanation;
  return { decidedBy, steps, request: subjectOf(explanation).join(' from '), values: [], index };
}
