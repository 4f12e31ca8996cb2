import type { LoginRegistry } from '../auth/registry.ts';
import { type EdgeRuntime, edgeRuntime } from '../edge/runtime.ts';
import type { World } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { CompiledEdge } from '../edge/compile.ts';
import { SIMULATED_KEY, SIMULATED_PROVIDER } from '../dev_idp/simulated_key.ts';
import type { LoginEnvironment } from '../auth/policy_logins.ts';
import { simulatedEnvironment } from '../edge/login_config.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Watch } from '../filters/evaluators.ts';
import type { Locate } from '../edge/explain.ts';
import type { SecretSource } from '../edge/secrets.ts';
import { holdDocuments } from '../policy/document/checked_policies.ts';
import { placedAll } from './placed_routes.ts';
import { ResettableEdge, type SharedParts, sharedParts } from './resettable_edge.ts';

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
  /** The edge in its present state with further parts: the endpoints of agents. */
  readonly extended: (parts: readonly EdgeConfig[]) => CompiledEdge;
  /** The same edge with additional facts, which take precedence. */
  readonly withFacts: (facts: readonly unknown[]) => EdgeFixture;
  /** The same edge with full traces of its policies, and an observer if one is given; itself if it has no policies. */
  readonly traced: (by?: EdgeObserver) => EdgeFixture;
  /** The same edge with an observer: for coverage. */
  readonly watched: (by: EdgeObserver) => EdgeFixture;
  /** The same edge without an observer: for runs that are not cases. */
  readonly unwatched: () => EdgeFixture;
  /** A configuration that shares most objects with this one, so that only what differs is compiled. */
  readonly edited: (config: EdgeConfig) => EdgeFixture;
  /** Releases what was compiled once no more cases run; a later case compiles it again. */
  readonly release: () => void;
  /** A node of its own with the same options, whose sessions are those of `registry`. */
  readonly node: (world: World, registry: LoginRegistry) => EdgeRuntime;
  /** Notes that an exchange is complete and may have changed the state of the edge; `isOwn` is false for one of a node. */
  readonly touched: (exchange: Exchange | StreamExchange, isOwn?: boolean) => void;
}

/** What fixtures of configurations that share most objects have in common, so that only what differs is compiled. */
export interface FixtureParts {
  readonly logins: LoginEnvironment;
  readonly shared: SharedParts;
}

export function fixtureParts(): FixtureParts {
  return { logins: simulatedEnvironment(SIMULATED_PROVIDER, SIMULATED_KEY), shared: sharedParts() };
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
  common: FixtureParts = fixtureParts(),
): EdgeFixture {
  const { logins, shared } = common;
  const options = {
    trace,
    ...(secrets && { secrets }),
    logins,
    ...(watching && { watch: watching.watch }),
  };
  holdPolicies(config);
  const own = new ResettableEdge(config, options, shared);
  let full: EdgeFixture | null = null;
  let plain: EdgeFixture | null = null;
  const variants = new Map<string, EdgeFixture>();
  const edge: EdgeFixture = {
    config,
    locate,
    withFacts: (facts) => {
      if (facts.length === 0) return edge;
      const key = JSON.stringify(facts);
      let variant = variants.get(key);
      if (variant === undefined) {
        variants.set(
          key,
          (variant = edgeFixture(configWithFacts(config, facts), locate, trace, watching, secrets)),
        );
      }
      return variant;
    },
    watched: (by) => edgeFixture(config, locate, trace, by, secrets),
    unwatched: () =>
      watching === null ? edge : (plain ??= edgeFixture(config, locate, trace, null, secrets)),
    traced: (by) => {
      if (by !== undefined && hasPolicy(config)) return edgeFixture(config, locate, 'full', by, secrets);
      return (full ??= hasPolicy(config)
        ? edgeFixture(config, locate, 'full', null, secrets)
        : edge.unwatched());
    },
    fresh: () => {
      logins.registry.clear();
      return own.fresh();
    },
    extended: (parts) => {
      for (const part of parts) holdPolicies(part);
      return own.extended(parts);
    },
    edited: (changed) => edgeFixture(changed, () => null, trace, watching, secrets, common),
    release: () => own.release(),
    node: (world, registry) =>
      edgeRuntime(config, world, {
        ...options,
        logins: simulatedEnvironment(SIMULATED_PROVIDER, SIMULATED_KEY, registry),
      }),
    touched: (exchange, isOwn = true) => {
      const { pipeline } = exchange;
      watching?.completed(exchange);
      if (!isOwn) return;
      for (const index of pipeline?.stateful ?? []) own.touched(pipeline!.filters[index]!.state);
    },
  };
  return edge;
}

/** A configuration with further facts about addresses, which take precedence. */
export function configWithFacts(config: EdgeConfig, facts: readonly unknown[]): EdgeConfig {
  if (facts.length === 0) return config;
  const before: unknown = config.facts;
  return { ...config, facts: [...(Array.isArray(before) ? before : []), ...facts] };
}

/** Fixtures with other traces and observers compile the same policies, and coverage reads their rules. */
function holdPolicies(config: EdgeConfig): void {
  for (const { route } of placedAll(config))
    if (route.traffic_policy !== undefined) holdDocuments(route.traffic_policy);
}

function hasPolicy(config: EdgeConfig): boolean {
  return placedAll(config).some(({ route }) => route.traffic_policy !== undefined);
}
