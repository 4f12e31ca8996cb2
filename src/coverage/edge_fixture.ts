import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream.ts';
import { type CompiledEdge, compileEdge } from '../edge/compile.ts';
import { SIMULATED_PROVIDER } from '../dev_idp/simulated.ts';
import { SIMULATED_KEY } from '../dev_idp/simulated_key.ts';
import { simulatedEnvironment } from '../edge/login_config.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Watch } from '../filters/evaluators.ts';
import type { Locate } from '../edge/explain.ts';
import type { SecretSource } from '../edge/secrets.ts';
import type { TakeState } from '../edge/filter_state.ts';

/** Observes an edge: every expression of its policies, and each completed exchange. */
export interface EdgeObserver {
  readonly watch: Watch;
  readonly completed: (exchange: Exchange | StreamExchange) => void;
}

/** An edge that many cases test, each in a fresh state. */
export interface EdgeFixture {
  readonly config: EdgeConfig;
  readonly locate: Locate;
  /** The compiled edge in its initial state. */
  readonly fresh: () => CompiledEdge;
  /** The same edge with additional facts, which take precedence. */
  readonly withFacts: (facts: readonly unknown[]) => EdgeFixture;
  /** The same edge with full traces of its policies; itself if it has none. */
  readonly traced: () => EdgeFixture;
  /** The same edge with an observer: for coverage. */
  readonly watched: (by: EdgeObserver) => EdgeFixture;
  /** The same edge without an observer: for runs that are not cases. */
  readonly unwatched: () => EdgeFixture;
  /** Notes that an exchange is complete and may have changed the state of the edge. */
  readonly touched: (exchange: Exchange | StreamExchange) => void;
}

/**
 * Prepares a checked configuration for many cases. It is compiled once and its state is reset between cases,
 * because compiling patterns and policies takes far longer than a case.
 */
export function edgeFixture(
  config: EdgeConfig,
  locate: Locate,
  trace: 'decided' | 'full' = 'decided',
  watching: EdgeObserver | null = null,
  secrets: SecretSource | null = null,
): EdgeFixture {
  let compiled: CompiledEdge | null = null;
  const logins = simulatedEnvironment(SIMULATED_PROVIDER, SIMULATED_KEY);
  const beginnings = new Map<unknown, () => unknown>();
  const changed = new Set<unknown>();
  let full: EdgeFixture | null = null;
  let plain: EdgeFixture | null = null;
  const variants = new Map<string, EdgeFixture>();
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
  const edge: EdgeFixture = {
    config,
    locate,
    withFacts: (facts) => {
      if (facts.length === 0) return edge;
      const key = JSON.stringify(facts);
      let variant = variants.get(key);
      if (variant === undefined) {
        const before: unknown = config.facts;
        const own = { ...config, facts: [...(Array.isArray(before) ? before : []), ...facts] } as EdgeConfig;
        variants.set(key, (variant = edgeFixture(own, locate, trace, watching, secrets)));
      }
      return variant;
    },
    watched: (by) => edgeFixture(config, locate, trace, by, secrets),
    unwatched: () =>
      watching === null ? edge : (plain ??= edgeFixture(config, locate, trace, null, secrets)),
    traced: () =>
      (full ??= hasPolicy(config) ? edgeFixture(config, locate, 'full', null, secrets) : edge.unwatched()),
    fresh: () => {
      for (const state of changed) {
        const initial = beginnings.get(state);
        if (initial === undefined || !isPutBack(state, initial())) compiled = null;
      }
      changed.clear();
      logins.registry.clear();
      return (compiled ??= compile());
    },
    touched: (exchange) => {
      const { pipeline } = exchange;
      watching?.completed(exchange);
      for (const index of pipeline?.stateful ?? []) changed.add(pipeline!.filters[index]!.state);
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

/** Resets a state in place to the content of a new one; false if its type does not allow this. */
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
