import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream.ts';
import { type CompiledEdge, compileEdge } from '../edge/compile.ts';
import { SIMULATED_PROVIDER } from '../development_idp/simulated.ts';
import { SIMULATED_KEY } from '../development_idp/simulated_key.ts';
import { simulatedGround } from '../edge/gates.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Watch } from '../policy/evaluators.ts';
import type { Locate } from '../edge/explain.ts';
import type { SecretSource } from '../edge/secrets.ts';
import type { TakeState } from '../edge/states.ts';

/** Looks on while an edge runs: at every expression of its policies, and at each exchange that is complete. */
export interface Watching {
  readonly watch: Watch;
  readonly landed: (exchange: Exchange) => void;
  /** Hears of each connection of a TLS or TCP edge. */
  readonly connected?: (exchange: StreamExchange) => void;
}

/** An edge that many cases test, each as if it were new. */
export interface EdgeUnderTest {
  readonly config: EdgeConfig;
  readonly locate: Locate;
  /** The compiled edge, nothing remembered. */
  readonly fresh: () => CompiledEdge;
  /** The same edge, with facts after those of its own: they win. */
  readonly withFacts: (facts: readonly unknown[]) => EdgeUnderTest;
  /** The same edge, its policies telling also what did not apply; itself when there is no policy. */
  readonly traced: () => EdgeUnderTest;
  /** The same edge, what it does noted: for coverage. */
  readonly watched: (by: Watching) => EdgeUnderTest;
  /** The same edge, nothing noted: for runs that are no cases. */
  readonly unwatched: () => EdgeUnderTest;
  /** Notes that an exchange is complete, and may have changed what the edge remembers. */
  readonly touched: (exchange: Exchange) => void;
  /** Notes that a connection of a TLS or TCP edge was decided about. */
  readonly connected: (exchange: StreamExchange) => void;
}

/**
 * Prepares a checked configuration for many cases. It is compiled once: what was remembered meanwhile is put back
 * to how it began, for compiling patterns and policies takes far longer than a case.
 */
export function edgeUnderTest(
  config: EdgeConfig,
  locate: Locate,
  trace: 'decided' | 'full' = 'decided',
  watching: Watching | null = null,
  secrets: SecretSource | null = null,
): EdgeUnderTest {
  let compiled: CompiledEdge | null = null;
  const logins = simulatedGround(SIMULATED_PROVIDER, SIMULATED_KEY);
  const beginnings = new Map<unknown, () => unknown>();
  const changed = new Set<unknown>();
  let full: EdgeUnderTest | null = null;
  let plain: EdgeUnderTest | null = null;
  const variants = new Map<string, EdgeUnderTest>();
  const compile = (): CompiledEdge => {
    beginnings.clear();
    const take: TakeState = (_route, _module, _config, initial) => {
      const state = initial();
      beginnings.set(state, initial);
      return state;
    };
    return compileEdge(config, take, {
      trace,
      ...(secrets && { secrets }),
      logins,
      ...(watching && { watch: watching.watch }),
    });
  };
  const edge: EdgeUnderTest = {
    config,
    locate,
    withFacts: (facts) => {
      if (facts.length === 0) return edge;
      const key = JSON.stringify(facts);
      let variant = variants.get(key);
      if (variant === undefined) {
        const before: unknown = config.facts;
        const own = { ...config, facts: [...(Array.isArray(before) ? before : []), ...facts] } as EdgeConfig;
        variants.set(key, (variant = edgeUnderTest(own, locate, trace, watching, secrets)));
      }
      return variant;
    },
    watched: (by) => edgeUnderTest(config, locate, trace, by, secrets),
    unwatched: () =>
      watching === null ? edge : (plain ??= edgeUnderTest(config, locate, trace, null, secrets)),
    traced: () =>
      (full ??= hasPolicy(config) ? edgeUnderTest(config, locate, 'full', null, secrets) : edge.unwatched()),
    fresh: () => {
      for (const state of changed) {
        const initial = beginnings.get(state);
        if (initial === undefined || !isPutBack(state, initial())) compiled = null;
      }
      changed.clear();
      logins.registry.clear();
      return (compiled ??= compile());
    },
    connected: (exchange) => {
      watching?.connected?.(exchange);
      for (const [index, slot] of (exchange.pipeline?.slots ?? []).entries())
        if (exchange.verdicts[index] !== undefined) changed.add(slot.state);
    },
    touched: (exchange) => {
      const { pipeline } = exchange;
      watching?.landed(exchange);
      for (const index of pipeline?.stateful ?? []) changed.add(pipeline!.slots[index]!.state);
    },
  };
  return edge;
}

function hasPolicy({ edges }: EdgeConfig): boolean {
  const carriers = [
    ...Object.values(edges.https).flatMap(({ routes }) => routes),
    ...Object.values(edges.tls),
    ...Object.values(edges.tcp),
  ];
  return carriers.some((carrier) => carrier.traffic_policy !== undefined);
}

/** Gives a state the content of a new one, in place; false for a kind of value that cannot be filled from outside. */
function isPutBack(state: unknown, fresh: unknown): boolean {
  if (Array.isArray(state) && Array.isArray(fresh)) {
    state.length = 0;
    for (const item of fresh) state.push(item);
    return true;
  }
  if (!isPlain(state) || !isPlain(fresh)) return false;
  for (const key of Object.keys(state)) if (!Object.hasOwn(fresh, key)) delete state[key];
  Object.assign(state, fresh);
  return true;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
