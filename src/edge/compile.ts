import { areSame, weakMemoize } from '../caches/weak_memoize.ts';
import { brandingOf } from '../engine/branding.ts';
import type { Steps } from '../config_file/steps.ts';
import type { StreamConfiguration } from '../engine/stream_exchange.ts';
import { type Facts, type GeoipDatabase, NO_FACTS } from '../policy/env/facts.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import type { PolicyLinks } from '../policy/module.ts';
import { backendTable } from './backends.ts';
import { type HttpRouting, beginExchange } from './begin_exchange.ts';
import type { LoginEnvironment } from '../auth/policy_logins.ts';
import { type CompileCache, compileCache } from './compile_cache.ts';
import type { Context } from './compile_filters.ts';
import type { HttpsEdge } from './compile_https.ts';
import { edgeCompiler } from './compile_parts.ts';
import { tablesOf } from './document/config_tables.ts';
import {
  type InternalEndpoints,
  type InternalNames,
  internalEndpoints,
  internalNames,
} from './internal_endpoints.ts';
import type { EdgeConfig } from './document/schema.ts';
import {
  type CompiledParts,
  type EdgeTables,
  NO_EDGES,
  allEdges,
  changedEdges,
  keyOfEdge,
  soleOf,
  tablesWith,
} from './edge_tables.ts';
import { type TakeState, stateKey } from './filter_state.ts';
import { type HandshakeTable, handshakeTable } from './handshakes.ts';
import { ipPolicyTable } from './ip_policies.ts';
import { loginEnvironment } from './login_config.ts';
import { samlHost } from './saml_host.ts';
import { namedSecrets } from './document/named_secrets.ts';
import { type KeptSecrets, type SecretSource, keepSecrets, secretProvider } from './secrets.ts';
import { type StreamTable, beginStream, streamTable } from './streams.ts';

/** A compiled configuration: immutable, swapped as one reference. */
export interface CompiledEdge extends HttpRouting, StreamConfiguration {
  readonly config: EdgeConfig;
  /** In the order of the file. */
  readonly https: readonly HttpsEdge[];
  readonly tables: EdgeTables;
  /** What only `forward-internal` reaches. */
  readonly internal: InternalNames;
  /** What all edges were compiled with. */
  readonly circumstances: readonly unknown[];
  /** Facts about addresses. */
  readonly facts: Facts;
  /** TLS and TCP edges. */
  readonly streams: StreamTable;
  /** The TLS settings for each server name and port. */
  readonly handshakes: HandshakeTable;
}

export interface CompileOptions {
  /** Default none. */
  readonly adoptHosts?: HttpRouting['adoptHosts'];
  /** Databases for what the facts of the configuration do not say. */
  readonly geoipDatabases?: readonly GeoipDatabase[];
  /** Lets requests pass policy actions that are not simulated; otherwise they get an error. */
  readonly passUnsimulated?: boolean;
  /** Secrets that policies may read with `secrets.get`; default none. */
  readonly secrets?: SecretSource;
  /** Lets `http-request` reach this machine and its network; default false. */
  readonly allowPrivateFetch?: boolean;
  /** `full`: policies also record which rules did not apply, and why; slower. Default `decided`. */
  readonly trace?: 'decided' | 'full';
  /** Observes every expression of every policy, for coverage. */
  readonly watch?: PolicyLinks['watch'];
  /** What `forward-internal` can reach at the time of a request; by default what the configuration has. */
  readonly internal?: InternalEndpoints;
  /** What all login gates share; by default created for this configuration alone. */
  readonly logins?: LoginEnvironment;
  /** Parts of earlier configurations that were compiled with the same options; default none. */
  readonly cache?: CompileCache;
  /** Takes the compilation of large parts, which are then left out; by default they are compiled at once. */
  readonly later?: Context['later'];
}

/**
 * Compiles a checked configuration; `takeState` gives unchanged handlers their previous state. With the configuration
 * `before`, compiled with the same options, only what differs is compiled and indexed, and other handlers keep
 * their state.
 */
export function compileEdge(
  config: EdgeConfig,
  takeState: TakeState,
  options: CompileOptions = {},
  before: CompiledEdge | null = null,
): CompiledEdge {
  const { adoptHosts = 'none', logins = loginEnvironment(), cache: kept = compileCache() } = options;
  const secrets = secretsOf(config, options, kept);
  const given = tablesOf(config);
  const internal = internalNames(
    before === null ? null : { names: before.internal, tables: tablesOf(before.config) },
    given,
  );
  const context = contextOf(config, internal, takeState, { options, logins, cache: kept, secrets });
  const circumstances = [context.branding, context.policy, logins] as const;
  const former = before !== null && areSame(before.circumstances, circumstances) ? before : null;
  const keys =
    former === null ? allEdges(given) : changedEdges(former.tables, tablesOf(former.config), given);
  const parts = Array.from(keys, (key) => {
    const compile = edgeCompiler(given, key, logins);
    return [key, compile?.(statesOf(context, before?.tables.edges.get(key)))] as const;
  });
  const tables = tablesWith(former?.tables ?? NO_EDGES, parts);
  const isSameStreams = former !== null && former.tables.streams === tables.streams;
  return compiledOf({
    config,
    tables,
    internal,
    circumstances,
    branding: context.branding,
    facts: context.policy.facts ?? NO_FACTS,
    streams: isSameStreams ? former.streams : streamTable(tables.streams),
    adoptHosts,
    redactor: secrets?.redactor ?? NO_REDACTOR,
    cookies: logins.registry.cookies,
  });
}

/** Compiles the large parts of a configuration with pauses, so that `compileEdge` with the same cache finds them. */
export function* largePartsAhead(
  config: EdgeConfig,
  options: CompileOptions & { readonly cache: CompileCache },
  before: CompiledEdge,
): Steps<void> {
  const waiting: Steps<void>[] = [];
  const trial = {
    ...options,
    cache: options.cache.trial(),
    later: (work: Steps<void>) => waiting.push(work),
  };
  compileEdge(config, (_route, _module, _config, initial) => initial(), trial, before);
  for (const work of waiting) {
    yield;
    yield* work;
  }
}

type Compiled = Pick<
  CompiledEdge,
  | 'config'
  | 'tables'
  | 'internal'
  | 'circumstances'
  | 'branding'
  | 'facts'
  | 'streams'
  | 'adoptHosts'
  | 'redactor'
  | 'cookies'
>;

/** Apart from `compileEdge`, because functions made there would keep its former configuration alive, and so all of them. */
function compiledOf(parts: Compiled): CompiledEdge {
  const { config, adoptHosts } = parts;
  const { edges, hosts, saml, open, profiles, ports } = parts.tables;
  const { https: names } = tablesOf(config);
  const httpsOf = (name: string) => edges.get(keyOfEdge('https', name))!.compiled;
  const alone = soleOf(names) ?? (adoptHosts === 'loopback' || adoptHosts === 'any' ? soleOf(open) : null);
  const sole = alone === null ? null : httpsOf(alone);
  let https: HttpsEdge[] | undefined;
  const compiled: CompiledEdge = {
    ...parts,
    get https() {
      return (https ??= Object.keys(config.edges.https).map((name) => httpsOf(name).https!));
    },
    sole: sole?.https ?? null,
    hosts,
    handshakes: handshakeTable(config, adoptHosts, {
      profiles,
      ports,
      sole: sole?.profile ?? null,
      hasHttps: names.size > 0,
      hasIdentityHost: saml.size > 0,
    }),
    samlHost: samlHost(parts.branding.service, saml),
    beginInside: (connection, head, world) => beginExchange(compiled, connection, head, world),
    beginStreamInside: (connection, at, world) => beginStream(compiled, connection, at, world),
  };
  return compiled;
}

/** The context of an edge: states of its former version are kept. */
function statesOf(context: Context, former: CompiledParts | undefined): Context {
  if (former === undefined || former.taken.length === 0) return context;
  const states = takenStates(former.taken);
  return {
    ...context,
    takeState: (route, module, of, initial) =>
      context.takeState(route, module, of, () => states.get(stateKey(of, [route, module])) ?? initial()),
  };
}

const takenStates = weakMemoize(
  (taken: CompiledParts['taken']): ReadonlyMap<string, unknown> =>
    new Map(taken.map(({ route, module, config, state }) => [stateKey(config, [route, module]), state])),
);

/** The secrets that were read, remembered across all configurations. */
function secretsOf(config: EdgeConfig, { secrets }: CompileOptions, kept: CompileCache): KeptSecrets | null {
  const named = namedSecrets(config);
  const isKept = secrets !== undefined || named.length > 0;
  const made = kept.shared('secrets', [secrets, isKept], () =>
    isKept ? keepSecrets(secretProvider(secrets ?? {})) : null,
  );
  for (const text of named) made?.remember(text);
  return made;
}

const NO_REDACTOR = (): null => null;

interface Surroundings {
  readonly options: CompileOptions;
  readonly logins: LoginEnvironment;
  readonly cache: CompileCache;
  readonly secrets: KeptSecrets | null;
}

function internalIn(internal: InternalNames, kept: CompileCache): InternalEndpoints {
  const names = [...internal.values()].flat().sort();
  return kept.shared('internal endpoints', names, () => internalEndpoints(names));
}

/** The context of all handlers; unchanged values are the same objects as for the previous configuration. */
function contextOf(
  config: EdgeConfig,
  internalOf: CompiledEdge['internal'],
  takeState: TakeState,
  { options, logins, cache: kept, secrets }: Surroundings,
): Context {
  const { facts: entries, service_name: service, underscore_headers: underscores } = config;
  const isKnown = entries !== undefined || options.geoipDatabases !== undefined;
  const { facts } = kept.shared('facts', [entries], () =>
    isKnown ? compileFacts(entries, '/facts', options.geoipDatabases) : { facts: NO_FACTS },
  );
  const internal = options.internal ?? internalIn(internalOf, kept);
  const policy = kept.shared('policies', [facts, internal], () => ({
    facts,
    passUnsimulated: options.passUnsimulated ?? false,
    allowPrivateFetch: options.allowPrivateFetch ?? false,
    ...internal,
    trace: options.trace ?? ('decided' as const),
    logins,
    ...(options.watch && { watch: options.watch }),
    ...(secrets && { secret: secrets.get }),
  }));
  const { ip_policies: policies, backends, certificate_authorities: authorities } = tablesOf(config);
  return {
    branding: kept.shared('naming', [service, underscores], () => brandingOf(service, underscores)),
    takeState,
    answers: kept.shared('answers', [policies, backends, authorities], () => ({})),
    ipPolicy: ipPolicyTable(policies, kept.policies),
    authorityPem: (id) => authorities.get(id)?.ca_pem ?? '',
    backend: backendTable(backends),
    policy,
    cache: kept,
    later: options.later ?? null,
  };
}
