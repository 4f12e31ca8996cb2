import type { Because, Connection, RequestHead, World } from '../engine/contract.ts';
import { type BeginInside, Exchange } from '../engine/exchange.ts';
import type { Hide } from '../engine/hide.ts';
import type { Linked, LinkedRule } from '../engine/module.ts';
import { type ServiceNaming, serviceNaming } from '../engine/naming.ts';
import { type Slot, pipeline, slot } from '../engine/pipeline.ts';
import { type EngineReason, refusal } from '../engine/refusals.ts';
import { parseAuthority } from '../http/host.ts';
import { parseTarget } from '../http/target.ts';
import type { AddressBook } from '../expression/vocabulary/facts.ts';
import { compileFacts } from '../expression/vocabulary/facts_table.ts';
import { MODULES } from '../modules/table.ts';
import type { PolicyLinks } from '../modules/traffic_policy/index.ts';
import { isCidrProblem, parseCidr } from '../net/cidr.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { backendTable } from './backends.ts';
import type { EdgeConfig, RouteConfig } from './document/schema.ts';
import { type HostTable, hostTable } from './hosts.ts';
import { type RoutedPipeline, type Router, router } from './router.ts';
import { type SecretSource, keepSecrets, secretProvider } from './secrets.ts';
import type { TakeState } from './states.ts';

/** A configuration made ready to run: immutable, swapped as one reference. */
export interface CompiledEdge {
  readonly config: EdgeConfig;
  readonly naming: ServiceNaming;
  readonly hosts: HostTable<HttpsEdge>;
  /** The only edge, where there is just one. */
  readonly sole: HttpsEdge | null;
  readonly adoptHosts: NonNullable<CompileOptions['adoptHosts']>;
  /** Keeps the secrets of its policies out of traces and events; null where it has none. */
  readonly hide: Hide | null;
}

export interface CompileOptions {
  /** Which hosts that no edge names mean the only edge: for local development. Default none. */
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  /** Databases that are asked for what the facts of the configuration do not say. */
  readonly addressBooks?: readonly AddressBook[];
  /** Lets requests pass actions of a policy that are not simulated; else they stop there. */
  readonly passUnsimulated?: boolean;
  /** Secrets that policies may read with `secrets.get`; without it there are none. */
  readonly secrets?: SecretSource;
  /** `full`: policies also tell which rules did not apply, and why; slower. Default `decided`. */
  readonly trace?: 'decided' | 'full';
  /** Looks at every expression of every policy: for coverage. */
  readonly watch?: PolicyLinks['watch'];
}

interface HttpsEdge {
  readonly name: string;
  readonly router: Router;
}

/** Compiles a checked configuration; `takeState` gives unchanged handlers the state they had. */
export function compileEdge(
  config: EdgeConfig,
  takeState: TakeState,
  options: CompileOptions = {},
): CompiledEdge {
  const naming = serviceNaming(config.service_name);
  const hosts = Object.values(config.edges.https).flatMap(({ hostports }) => hostports.map(hostOf));
  const internal = new Set(hosts.filter(isInternalHost));
  const secrets = options.secrets === undefined ? null : keepSecrets(secretProvider(options.secrets));
  const context: Context = {
    naming,
    takeState,
    ipPolicy: ipPolicyTable(config),
    backend: backendTable(config.backends),
    policy: {
      facts: compileFacts(config.facts, '/facts', options.addressBooks).facts,
      passUnsimulated: options.passUnsimulated ?? false,
      isInternal: (host) => internal.has(host),
      trace: options.trace ?? 'decided',
      ...(options.watch && { watch: options.watch }),
      ...(secrets && { secret: secrets.get }),
    },
  };
  const edges: [string, HttpsEdge][] = [];
  const https: HttpsEdge[] = [];
  for (const [name, edge] of Object.entries(config.edges.https)) {
    const pointer = pointerTo('/edges/https', name);
    const routes = edge.routes.map((route, index) =>
      compileRoute(name, route, pointerTo(`${pointer}/routes`, index), context),
    );
    const compiled: HttpsEdge = { name, router: router(routes) };
    https.push(compiled);
    for (const hostport of edge.hostports) edges.push([hostOf(hostport), compiled]);
  }
  return {
    config,
    naming,
    hosts: hostTable(edges),
    sole: https.length === 1 ? https[0]! : null,
    adoptHosts: options.adoptHosts ?? 'none',
    hide: secrets?.hide ?? null,
  };
}

/** The host of a `host:port`, wildcard kept. */
function hostOf(hostport: string): string {
  const wildcard = hostport.startsWith('*.') ? '*.' : '';
  const authority = parseAuthority(hostport.slice(wildcard.length));
  if (authority === null) throw new Error(`hostport '${hostport}' passed its check but does not parse`);
  return wildcard + authority.host;
}

interface Context {
  readonly naming: ServiceNaming;
  readonly takeState: TakeState;
  readonly ipPolicy: Linked['ipPolicy'];
  readonly backend: Linked['backend'];
  readonly policy: PolicyLinks;
}

function ipPolicyTable(config: EdgeConfig): Linked['ipPolicy'] {
  const read = new Map<string, readonly LinkedRule[]>();
  return (id) => {
    let rules = read.get(id);
    if (rules === undefined) read.set(id, (rules = linkRules(config, id)));
    return rules;
  };
}

function linkRules(config: EdgeConfig, id: string): LinkedRule[] {
  const policy = config.ip_policies[id];
  if (policy === undefined) throw new Error(`IP policy '${id}' is not in the configuration`);
  const pointer = `${pointerTo('/ip_policies', id)}/rules`;
  return policy.rules.map((rule, index) => {
    const cidr = parseCidr(rule.cidr);
    if (isCidrProblem(cidr)) throw new Error(cidr.says);
    return { action: rule.action, cidr, label: `${id}#${index}`, pointer: pointerTo(pointer, index) };
  });
}

function compileRoute(edge: string, route: RouteConfig, pointer: string, context: Context): RoutedPipeline {
  const { host, path } = readMatch(route.match);
  const exact = route.match_type === 'exact_path';
  const id = `${edge} ${route.match_type} ${route.match}`;
  const slots: Slot[] = [];
  for (const module of MODULES) {
    const config = route[module.type as keyof RouteConfig] as { readonly enabled: boolean } | undefined;
    if (config === undefined || !config.enabled) continue;
    const at = pointerTo(pointer, module.type);
    const linked: Linked & PolicyLinks = {
      ...context.policy,
      naming: context.naming,
      pointer: at,
      ipPolicy: context.ipPolicy,
      backend: context.backend,
      refusal: (status, code, message) => refusal(context.naming, status, code, message),
    };
    const handler = module.compile(config as never, linked);
    const state =
      handler.initial === undefined
        ? null
        : context.takeState(id, module.type, config, () => handler.initial!());
    slots.push(slot(module.type, at, module.reasons, handler, state));
  }
  const facts = {
    route: id,
    edge,
    match: route.match,
    matchType: route.match_type,
    pointer,
    naming: context.naming,
  };
  return { host, path, exact, pipeline: pipeline(facts, slots) };
}

/** A route selector: a path, a host, or a host followed by a path. The path is made canonical like a request's. */
export function readMatch(match: string): { host: string | null; path: string } {
  const slash = match.indexOf('/');
  const host = slash === 0 ? null : (slash < 0 ? match : match.slice(0, slash)).toLowerCase();
  const target = parseTarget(slash < 0 ? '/' : match.slice(slash));
  if ('problem' in target) throw new Error(`match '${match}' passed its check but does not parse`);
  return { host, path: target.path };
}

const MATCHED: Because<EngineReason> = { code: 'route.matched', detail: {} };
const LOOPBACK = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Hosts that only `forward-internal` reaches. */
function isInternalHost(host: string): boolean {
  return host.endsWith('.internal');
}

/** Begins the exchange of one request: finds its edge and route, or the reason why there is none. */
export function beginExchange(
  compiled: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
): Exchange {
  const edge = compiled.hosts.find(head.host) ?? adopted(compiled, head.host);
  const fromOutside = connection.hops === undefined;
  if (edge === null || (fromOutside && isInternalHost(head.host))) return refused('route.unknown_host');
  const found = edge.router.find(head.host, head.path);
  if (edge.router.isAmbiguous(head.host, head.path, found)) {
    return refused('route.ambiguous_path');
  }
  if (found === null) return refused('route.no_match');
  const inside: BeginInside = (from, inner) => beginExchange(compiled, from, inner, world);
  return new Exchange(compiled.naming, connection, head, world, found, MATCHED, inside, compiled.hide);

  function refused(code: EngineReason): Exchange {
    const because = { code, detail: { host: head.host, path: head.path } };
    return new Exchange(compiled.naming, connection, head, world, null, because);
  }
}

/** The edge for a host that none names, where local development says that there is one. */
function adopted({ sole, adoptHosts }: CompiledEdge, host: string): HttpsEdge | null {
  return adoptHosts === 'any' || (adoptHosts === 'loopback' && LOOPBACK.test(host)) ? sole : null;
}

/** The exchange of a request that is refused before it can be routed. */
export function refuseExchange(
  compiled: CompiledEdge,
  connection: Connection,
  head: RequestHead,
  world: World,
  because: Because<EngineReason>,
): Exchange {
  return new Exchange(compiled.naming, connection, head, world, null, because);
}
