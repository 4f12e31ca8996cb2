import type { Connection, RequestHead, World } from '../engine/contract.ts';
import type { Steps } from '../config_file/steps.ts';
import type { Exchange } from '../engine/exchange.ts';
import { type CompileOptions, type CompiledEdge, compileEdge, largePartsAhead } from './compile.ts';
import { beginExchange } from './begin_exchange.ts';
import type { EdgeConfig } from './document/schema.ts';
import type { InternalEndpoints } from './internal_endpoints.ts';
import { type LoginOptions, loginEnvironment } from './login_config.ts';
import { compileCache } from './compile_cache.ts';
import type { LoginRegistry } from '../auth/registry.ts';

/**
 * The running edge: one reference to the compiled configuration, swapped as a whole. A request keeps the configuration
 * that it began with; unchanged handlers keep their state.
 */
export interface EdgeRuntime {
  readonly world: World;
  readonly current: () => CompiledEdge;
  /** Number of the configuration, from 1. */
  readonly revision: () => number;
  /** Compiles, then swaps; when compiling throws, nothing has changed. */
  readonly swap: (config: EdgeConfig) => void;
  /** Compiles a configuration on top of another one, without activating it. */
  readonly compile: (config: EdgeConfig, before: CompiledEdge) => CompiledEdge;
  /** Compiles the large parts of a configuration with pauses, for the next compilation. */
  readonly ahead: (config: EdgeConfig, before: CompiledEdge) => Steps<void>;
  /** Activates an earlier configuration again, or one that was compiled for it. */
  readonly restore: (compiled: CompiledEdge) => void;
  readonly begin: (connection: Connection, head: RequestHead) => Exchange;
  /** Application users and sessions of all login gates, and their revocation. */
  readonly logins: LoginRegistry;
  /** Replaces the session keys: the first one seals, all of them open. */
  readonly rekey: (keys: readonly string[]) => void;
}

export interface RuntimeOptions extends CompileOptions {
  /** Session keys and other login options; see `LoginOptions`. */
  readonly login?: LoginOptions;
}

/** Compiles the first configuration and activates it. */
export function edgeRuntime(config: EdgeConfig, world: World, given: RuntimeOptions): EdgeRuntime {
  const logins = given.logins ?? loginEnvironment(given.login);
  // Looked up in the active configuration: as part of each, every internal endpoint that comes or goes would have all
  // policies compiled again.
  const internal: InternalEndpoints = {
    isInternal: (host): boolean => current.hosts.find(host) !== null,
    isInternalAddress: ({ kind, host, port }): boolean => current.streams.find(kind, host, port) !== null,
  };
  const options = { ...given, logins, internal, cache: compileCache() };
  const compile = (next: EdgeConfig, before: CompiledEdge | null) =>
    compileEdge(next, (_route, _module, _config, initial) => initial(), options, before);
  let current: CompiledEdge = compile(config, null);
  let revision = 1;
  return {
    world,
    current: () => current,
    revision: () => revision,
    swap: (next) => {
      current = compile(next, current);
      revision++;
    },
    compile,
    ahead: (next, before) => largePartsAhead(next, options, before),
    restore: (compiled) => {
      current = compiled;
      revision++;
    },
    begin: (connection, head) => beginExchange(current, connection, head, world),
    logins: logins.registry,
    rekey: (keys) => logins.rekey?.(keys),
  };
}
