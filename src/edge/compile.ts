import type { Because, Connection, RequestHead, World } from '../engine/contract.ts';
import { type BeginInside, Exchange } from '../engine/exchange.ts';
import type { Hide } from '../engine/hide.ts';
import type { Linked, LinkedRule } from '../engine/module.ts';
import { type ServiceNaming, serviceNaming } from '../engine/naming.ts';
import { type Pipeline, pipeline } from '../engine/pipeline.ts';
import type { EngineReason } from '../engine/refusals.ts';
import { parseTarget } from '../http/target.ts';
import type { AddressBook } from '../expression/vocabulary/facts.ts';
import { compileFacts } from '../expression/vocabulary/facts_table.ts';
import { type Cidr, isCidrProblem, parseCidr } from '../net/cidr.ts';
import type { LinkedLogin } from '../modules/login_gate.ts';
import type { PolicyLinks } from '../modules/traffic_policy/index.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { backendTable } from './backends.ts';
import type { EdgeConfig, HttpsEdgeConfig, IpPolicyConfig, RouteConfig } from './document/schema.ts';
import { type LoginGround, type Reserved, gatesOf, loginGround, reservedFor } from './gates.ts';
import { type HandshakeTable, handshakeTable } from './handshakes.ts';
import { type HostTable, hostTable, isLoopback } from './hosts.ts';
import { type RoutedPipeline, type Router, router } from './router.ts';
import { type SecretSource, keepSecrets, secretProvider } from './secrets.ts';
import { type Context, type ModuleConfig, compileSlots, readHostport } from './slots.ts';
import { type SamlHost, compileSamlHost } from './saml_host.ts';
import type { TakeState } from './states.ts';
import { type StreamTable, compileStreams } from './streams.ts';

/** A configuration made ready to run: immutable, swapped as one reference. */
export interface CompiledEdge {
  readonly config: EdgeConfig;
  readonly naming: ServiceNaming;
  readonly hosts: HostTable<HttpsEdge>;
  /** TLS and TCP edges. */
  readonly streams: StreamTable;
  /** How TLS is spoken with whom. */
  readonly handshakes: HandshakeTable;
  /** Addresses of SAML routes on the host of the service. */
  readonly samlHost: SamlHost;
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
  /** Lets `http-request` reach this machine and its network; default false. */
  readonly allowPrivateFetch?: boolean;
  /** `full`: policies also tell which rules did not apply, and why; slower. Default `decided`. */
  readonly trace?: 'decided' | 'full';
  /** Looks at every expression of every policy: for coverage. */
  readonly watch?: PolicyLinks['watch'];
  /** What all session gates share; made for this configuration alone when left out. */
  readonly logins?: LoginGround;
}

interface HttpsEdge {
  readonly name: string;
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
  const naming = serviceNaming(config.service_name);
  const { adoptHosts = 'none' } = options;
  const hosts = Object.values(config.edges.https).flatMap(({ hostports }) =>
    hostports.map((each) => readHostport(each).host),
  );
  const internal = new Set(hosts.filter(isInternalHost));
  const secrets = options.secrets === undefined ? null : keepSecrets(secretProvider(options.secrets));
  const logins = options.logins ?? loginGround();
  const context: Context = {
    naming,
    takeState,
    ipPolicy: ipPolicyTable(config),
    authorityPem: (id) => config.certificate_authorities[id]?.ca_pem ?? '',
    backend: backendTable(config.backends),
    policy: {
      facts: compileFacts(config.facts, '/facts', options.addressBooks).facts,
      passUnsimulated: options.passUnsimulated ?? false,
      allowPrivateFetch: options.allowPrivateFetch ?? false,
      isInternal: (host) => internal.has(host),
      trace: options.trace ?? 'decided',
      logins,
      ...(options.watch && { watch: options.watch }),
      ...(secrets && { secret: secrets.get }),
    },
  };
  const edges: [string, HttpsEdge][] = [];
  const https: HttpsEdge[] = [];
  for (const [name, edge] of Object.entries(config.edges.https)) {
    const pointer = pointerTo('/edges/https', name);
    const gates = gatesOf(name, edge.routes, logins);
    const routes = edge.routes.map((route, index) =>
      compileRoute(
        { name, edge, pointer, login: gates[index]! },
        route,
        pointerTo(`${pointer}/routes`, index),
        context,
      ),
    );
    const reserved = routes.flatMap(({ host, pipeline: guarded }) =>
      guarded.slots.flatMap(({ reserves }) => reserves.map((base) => ({ base, host, pipeline: guarded }))),
    );
    const compiled: HttpsEdge = { name, router: router(routes), reserved };
    https.push(compiled);
    for (const hostport of edge.hostports) edges.push([readHostport(hostport).host, compiled]);
  }
  return {
    config,
    naming,
    hosts: hostTable(edges),
    streams: compileStreams(config, context),
    handshakes: handshakeTable(config, adoptHosts),
    samlHost: compileSamlHost(config, context, logins),
    sole: https.length === 1 ? https[0]! : null,
    adoptHosts,
    hide: secrets?.hide ?? null,
  };
}

function ipPolicyTable(config: EdgeConfig): Linked['ipPolicy'] {
  const read = new Map<string, readonly LinkedRule[]>();
  return (id) => {
    let rules = read.get(id);
    if (rules === undefined) read.set(id, (rules = linkRules(config, id)));
    return rules;
  };
}

/** Rules by the policy that they are of: one that is the same object as before has the same rules. */
const linked = new WeakMap<IpPolicyConfig, { readonly id: string; readonly rules: readonly LinkedRule[] }>();
const cidrs = new WeakMap<IpPolicyConfig['rules'][number], Cidr>();

function linkRules(config: EdgeConfig, id: string): readonly LinkedRule[] {
  const policy = config.ip_policies[id];
  if (policy === undefined) throw new Error(`IP policy '${id}' is not in the configuration`);
  const known = linked.get(policy);
  if (known?.id === id) return known.rules;
  const pointer = `${pointerTo('/ip_policies', id)}/rules`;
  const rules = policy.rules.map((rule, index): LinkedRule => {
    const cidr = cidrOf(rule);
    return { action: rule.action, cidr, label: `${id}#${index}`, pointer: pointerTo(pointer, index) };
  });
  linked.set(policy, { id, rules });
  return rules;
}

function cidrOf(rule: IpPolicyConfig['rules'][number]): Cidr {
  const known = cidrs.get(rule);
  if (known !== undefined) return known;
  const cidr = parseCidr(rule.cidr);
  if (isCidrProblem(cidr)) throw new Error(cidr.says);
  cidrs.set(rule, cidr);
  return cidr;
}

interface EdgeOfRoute {
  readonly name: string;
  readonly edge: HttpsEdgeConfig;
  readonly pointer: string;
  readonly login: LinkedLogin | null;
}

function compileRoute(
  { name: edge, edge: { tls_termination, mutual_tls }, pointer: edgePointer, login }: EdgeOfRoute,
  route: RouteConfig,
  pointer: string,
  context: Context,
): RoutedPipeline {
  const { host, path } = readMatch(route.match);
  const exact = route.match_type === 'exact_path';
  const id = `${edge} ${route.match_type} ${route.match}`;
  const slots = compileSlots(
    { edge, id, links: login === null ? context.policy : { ...context.policy, login } },
    (type) => {
      if (type === 'tls_termination') return [tls_termination, edgePointer];
      if (type === 'mutual_tls') return [mutual_tls, edgePointer];
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
  const ofService = compiled.samlHost.find(head.host, head.path);
  if (ofService !== null) return new Exchange(compiled.naming, connection, head, world, ofService, MATCHED);
  const edge = compiled.hosts.find(head.host) ?? adopted(compiled, head.host);
  const fromOutside = connection.hops === undefined;
  if (edge === null || (fromOutside && isInternalHost(head.host))) return refused('route.unknown_host');
  const reserved = edge.reserved.length === 0 ? null : reservedFor(edge.reserved, head.host, head.path);
  const found = reserved ?? edge.router.find(head.host, head.path);
  if (reserved === null && edge.router.isAmbiguous(head.host, head.path, found)) {
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
  return adoptHosts === 'any' || (adoptHosts === 'loopback' && isLoopback(host)) ? sole : null;
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
