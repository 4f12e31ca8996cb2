import { MODULE_FACTS } from '../filters/table.ts';
import type { Reason, Connection, RequestHead, World } from '../engine/contract.ts';
import { Exchange, type HttpConfiguration } from '../engine/exchange.ts';
import { brandingOf } from '../engine/branding.ts';
import { type Pipeline, pipelineOf } from '../engine/pipeline.ts';
import type { EngineReason } from '../engine/refusals.ts';
import { parseTarget } from '../http/target.ts';
import { type GeoipDatabase, NO_FACTS } from '../policy/env/facts.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import type { LinkedLogin } from '../auth/module_gate.ts';
import type { PolicyLinks } from '../policy/module.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { backendTable } from './backends.ts';
import type { EdgeConfig, HttpsEdgeConfig, RouteConfig } from './document/schema.ts';
import {
  type LoginEnvironment,
  type Reserved,
  gatesOf,
  loginEnvironment,
  reservedFor,
} from './login_config.ts';
import { type HandshakeTable, handshakeTable } from './handshakes.ts';
import { type HostTable, hostTable, isLoopback } from './hosts.ts';
import { ipPolicyTable } from './ip_policies.ts';
import { type CompileCache, compileCache } from './compile_cache.ts';
import { type RoutedPipeline, type Router, router } from './router.ts';
import { type KeptSecrets, type SecretSource, keepSecrets, secretProvider } from './secrets.ts';
import { internalHostsOf, isInternalHost } from './internal_hosts.ts';
import { type Context, type ModuleConfig, compileFilters, readHostport } from './compile_filters.ts';
import { type SamlHost, compileSamlHost } from './saml_host.ts';
import type { TakeState } from './filter_state.ts';
import { type StreamTable, compileStreams } from './streams.ts';

/** A compiled configuration: immutable, swapped as one reference. */
export interface CompiledEdge extends HttpConfiguration {
  readonly config: EdgeConfig;
  readonly https: readonly HttpsEdge[];
  readonly hosts: HostTable<HttpsEdge>;
  /** TLS and TCP edges. */
  readonly streams: StreamTable;
  /** The TLS settings for each server name and port. */
  readonly handshakes: HandshakeTable;
  /** Addresses of SAML routes on the service's own host. */
  readonly samlHost: SamlHost;
  readonly adoptHosts: NonNullable<CompileOptions['adoptHosts']>;
}

export interface CompileOptions {
  /** Which unknown hosts are treated as hosts of the only edge, for local development. Default none. */
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
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
  /** What all login gates share; by default created for this configuration alone. */
  readonly logins?: LoginEnvironment;
  /** Parts of earlier configurations that were compiled with the same options; default none. */
  readonly cache?: CompileCache;
}

interface HttpsEdge {
  readonly name: string;
  readonly pipelines: readonly Pipeline[];
  readonly router: Router;
  /** Reserved paths of its login gates. */
  readonly reserved: readonly Reserved<Pipeline>[];
}

/** Compiles a checked configuration; `takeState` gives unchanged handlers their previous state. */
export function compileEdge(
  config: EdgeConfig,
  takeState: TakeState,
  options: CompileOptions = {},
): CompiledEdge {
  const { adoptHosts = 'none', logins = loginEnvironment(), cache: kept = compileCache() } = options;
  const secrets = secretsOf(options, kept);
  const context = contextOf(config, takeState, { options, logins, cache: kept, secrets });
  const edges: [string, HttpsEdge][] = [];
  const https: HttpsEdge[] = [];
  for (const [name, edge] of Object.entries(config.edges.https)) {
    const compiled = compileHttpsEdge(name, edge, context, logins, kept);
    https.push(compiled);
    for (const hostport of edge.hostports) edges.push([readHostport(hostport).host, compiled]);
  }
  const compiled: CompiledEdge = {
    config,
    https,
    branding: context.branding,
    hosts: hostTable(edges),
    streams: compileStreams(config, context, kept),
    handshakes: handshakeTable(config, adoptHosts, kept),
    samlHost: compileSamlHost(config, context, logins, kept),
    adoptHosts,
    redact: secrets?.redact ?? null,
    cookies: logins.registry.cookies,
    beginInside: (connection, head, world) => beginExchange(compiled, connection, head, world),
  };
  return compiled;
}

/** The modules that belong to an edge, not to its routes. */
const OF_EDGES = [...MODULE_FACTS.values()].filter(({ place }) => place === 'edge').map(({ type }) => type);

function compileHttpsEdge(
  name: string,
  edge: HttpsEdgeConfig,
  context: Context,
  logins: LoginEnvironment,
  kept: CompileCache,
): HttpsEdge {
  const gates = gatesOf(name, edge.routes, logins);
  const { branding, policy } = context;
  const modules = Object.fromEntries(
    OF_EDGES.map((type) => [type, edge[type as keyof HttpsEdgeConfig] as ModuleConfig | undefined]),
  );
  const of = {
    name,
    pointer: pointerTo('/edges/https', name),
    modules,
  };
  const common = [name, branding, policy, ...Object.values(modules)] as const;
  const routes = edge.routes.map((route: RouteConfig, index) => {
    const login = gates[index]!;
    // Indexes in a list change when earlier routes are removed, so ids are used if there are any.
    const place = route.id ?? index;
    const circumstances = login === null ? [place, ...common] : [place, ...common, ...Object.values(login)];
    return kept.part(route, circumstances, context, (watched) =>
      compileRoute(of, { route, place, login }, watched),
    );
  });
  const reserved = routes.flatMap(({ host, pipeline: guarded }) =>
    guarded.filters.flatMap(({ reserves }) => reserves.map((base) => ({ base, host, pipeline: guarded }))),
  );
  return { name, pipelines: routes.map(({ pipeline: own }) => own), router: router(routes), reserved };
}

/** The secrets that were read, remembered across all configurations. */
function secretsOf({ secrets }: CompileOptions, kept: CompileCache): KeptSecrets | null {
  return kept.shared('secrets', [secrets], () =>
    secrets === undefined ? null : keepSecrets(secretProvider(secrets)),
  );
}

interface Surroundings {
  readonly options: CompileOptions;
  readonly logins: LoginEnvironment;
  readonly cache: CompileCache;
  readonly secrets: KeptSecrets | null;
}

/** The context of all handlers; unchanged values are the same objects as for the previous configuration. */
function contextOf(
  config: EdgeConfig,
  takeState: TakeState,
  { options, logins, cache: kept, secrets }: Surroundings,
): Context {
  const { facts: entries, service_name: service, underscore_headers: underscores } = config;
  const isKnown = entries !== undefined || options.geoipDatabases !== undefined;
  const { facts } = kept.shared('facts', [entries], () =>
    isKnown ? compileFacts(entries, '/facts', options.geoipDatabases) : { facts: NO_FACTS },
  );
  const internalHosts = internalHostsOf(Object.values(config.edges.https));
  const internal = kept.shared('internal hosts', internalHosts, () => new Set(internalHosts));
  const policy = kept.shared('policies', [facts, internal], () => ({
    facts,
    passUnsimulated: options.passUnsimulated ?? false,
    allowPrivateFetch: options.allowPrivateFetch ?? false,
    isInternal: (host: string) => internal.has(host),
    trace: options.trace ?? ('decided' as const),
    logins,
    ...(options.watch && { watch: options.watch }),
    ...(secrets && { secret: secrets.get }),
  }));
  return {
    branding: kept.shared('naming', [service, underscores], () => brandingOf(service, underscores)),
    takeState,
    ipPolicy: ipPolicyTable(config, kept.policies),
    authorityPem: (id) => config.certificate_authorities[id]?.ca_pem ?? '',
    backend: backendTable(config.backends),
    policy,
    cache: kept,
  };
}

interface EdgeOfRoute {
  readonly name: string;
  readonly pointer: string;
  /** The modules that apply to all routes of the edge. */
  readonly modules: Readonly<Record<string, ModuleConfig | undefined>>;
}

interface PlacedRoute {
  readonly route: RouteConfig;
  readonly place: string | number;
  readonly login: LinkedLogin | null;
}

function compileRoute(
  { name: edge, pointer: edgePointer, modules }: EdgeOfRoute,
  { route, place, login }: PlacedRoute,
  context: Context,
): RoutedPipeline {
  const { host, path } = readMatch(route.match);
  const exact = route.match_type === 'exact_path';
  const pointer = pointerTo(`${edgePointer}/routes`, place);
  const id = `${edge} ${route.match_type} ${route.match}`;
  const filters = compileFilters(
    {
      edge,
      id,
      links: login === null ? context.policy : { ...context.policy, login },
      circumstances: [context.branding, context.policy, ...Object.values(login ?? {})],
    },
    (type) => {
      if (Object.hasOwn(modules, type)) return [modules[type], edgePointer];
      return [route[type as keyof RouteConfig] as ModuleConfig | undefined, pointer];
    },
    context,
  );
  const facts = {
    route: id,
    edge,
    match: route.match,
    matchType: route.match_type,
    pointer,
    branding: context.branding,
  };
  return { host, path, exact, pipeline: pipelineOf(facts, filters) };
}

/**
 * Parses a route selector: a path, a host, or a host followed by a path. The path becomes canonical like that of a
 * request.
 */
export function readMatch(match: string): { host: string | null; path: string } {
  const slash = match.indexOf('/');
  const host = slash === 0 ? null : (slash < 0 ? match : match.slice(0, slash)).toLowerCase();
  const target = parseTarget(slash < 0 ? '/' : match.slice(slash));
  if ('problem' in target) throw new Error(`match '${match}' passed its check but does not parse`);
  return { host, path: target.path };
}

const MATCHED: Reason<EngineReason> = { code: 'route.matched', detail: {} };

/** Begins the exchange of a request: finds its edge and route, or the reason why there is none. */
export function beginExchange(
  compiled: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
): Exchange {
  const ofService = compiled.samlHost.find(head.host, head.path);
  if (ofService !== null) return new Exchange(compiled, connection, head, world, ofService, MATCHED);
  const edge = compiled.hosts.find(head.host) ?? adopted(compiled, head.host);
  const fromOutside = connection.hops === undefined;
  if (edge === null || (fromOutside && isInternalHost(head.host))) return refused('route.unknown_host');
  const reserved = edge.reserved.length === 0 ? null : reservedFor(edge.reserved, head.host, head.path);
  const found = reserved ?? edge.router.find(head.host, head.path);
  if (reserved === null && edge.router.isAmbiguous(head.host, head.path, found)) {
    return refused('route.ambiguous_path');
  }
  if (found === null) return refused('route.no_match');
  return new Exchange(compiled, connection, head, world, found, MATCHED);

  function refused(code: EngineReason): Exchange {
    const reason = { code, detail: { host: head.host, path: head.path } };
    return new Exchange(compiled, connection, head, world, null, reason);
  }
}

/** The edge for an unknown host, where local development allows that. */
function adopted({ https, adoptHosts }: CompiledEdge, host: string): HttpsEdge | null {
  const sole = https.length === 1 ? https[0]! : null;
  return adoptHosts === 'any' || (adoptHosts === 'loopback' && isLoopback(host)) ? sole : null;
}

/** The exchange of a request that is refused before routing. */
export function refuseExchange(
  compiled: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
  reason: Reason<EngineReason>,
): Exchange {
  return new Exchange(compiled, connection, head, world, null, reason);
}
