import { MODULE_FACTS } from '../filters/table.ts';
import type { Reason, Connection, RequestHead, World } from '../engine/contract.ts';
import { Exchange, type HttpConfiguration } from '../engine/exchange.ts';
import { brandingOf } from '../engine/branding.ts';
import { type Pipeline, pipeline } from '../engine/pipeline.ts';
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

/** A configuration made ready to run: immutable, swapped as one reference. */
export interface CompiledEdge extends HttpConfiguration {
  readonly config: EdgeConfig;
  readonly https: readonly HttpsEdge[];
  readonly hosts: HostTable<HttpsEdge>;
  /** TLS and TCP edges. */
  readonly streams: StreamTable;
  /** How TLS is spoken with whom. */
  readonly handshakes: HandshakeTable;
  /** Addresses of SAML routes on the host of the service. */
  readonly samlHost: SamlHost;
  readonly adoptHosts: NonNullable<CompileOptions['adoptHosts']>;
}

export interface CompileOptions {
  /** Which hosts that no edge names mean the only edge: for local development. Default none. */
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  /** Databases that are asked for what the facts of the configuration do not say. */
  readonly geoipDatabases?: readonly GeoipDatabase[];
  /** Lets requests pass actions of a policy that are not simulated; else they stop there. */
  readonly passUnsimulated?: boolean;
  /** Secrets that policies may read with `secrets.get`; without it there are none. */
  readonly secrets?: SecretSource;
  /** Lets `http-request` reach this machine and its network; default false. */
  readonly allowPrivateFetch?: boolean;
  /** `full`: policies also tell which rules did not apply, and why; slower. Default `decided`. */
  readonly trace?: 'decided' | 'full';
  /** Looks at every expression of every policy: for coverage. */
  readonly watch?: PolicyLinks['watch'];
  /** What all session gates share; made for this configuration alone when left out. */
  readonly logins?: LoginEnvironment;
  /** Parts of configurations that were compiled before with the same options; none when left out. */
  readonly cache?: CompileCache;
}

interface HttpsEdge {
  readonly name: string;
  readonly pipelines: readonly Pipeline[];
  readonly router: Router;
  /** Reserved paths of its gates. */
  readonly reserved: readonly Reserved<Pipeline>[];
}

/** Compiles a checked configuration; `takeState` gives unchanged handlers the state they had. */
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
    // Places in a list move when routes before them go; where there are ids, those are places.
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

/** One memory of the secrets that were given out, however often the configuration changes. */
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

/** What all handlers are compiled with; what has not changed is the same object as for the configuration before. */
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
  /** The modules that all routes of the edge have. */
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
  return { host, path, exact, pipeline: pipeline(facts, filters) };
}

/** A route selector: a path, a host, or a host followed by a path. The path is made canonical like a request's. */
export function readMatch(match: string): { host: string | null; path: string } {
  const slash = match.indexOf('/');
  const host = slash === 0 ? null : (slash < 0 ? match : match.slice(0, slash)).toLowerCase();
  const target = parseTarget(slash < 0 ? '/' : match.slice(slash));
  if ('problem' in target) throw new Error(`match '${match}' passed its check but does not parse`);
  return { host, path: target.path };
}

const MATCHED: Reason<EngineReason> = { code: 'route.matched', detail: {} };

/** Begins the exchange of one request: finds its edge and route, or the reason why there is none. */
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

/** The edge for a host that none names, where local development says that there is one. */
function adopted({ https, adoptHosts }: CompiledEdge, host: string): HttpsEdge | null {
  const sole = https.length === 1 ? https[0]! : null;
  return adoptHosts === 'any' || (adoptHosts === 'loopback' && isLoopback(host)) ? sole : null;
}

/** The exchange of a request that is refused before it can be routed. */
export function refuseExchange(
  compiled: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
  reason: Reason<EngineReason>,
): Exchange {
  return new Exchange(compiled, connection, head, world, null, reason);
}
