import { weakMemoize } from '../caches/weak_memoize.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type Pipeline, pipelineOf, compiledFilter } from '../engine/pipeline.ts';
import { refusal } from '../engine/refusals.ts';
import { identityHost } from '../auth/saml/addresses.ts';
import { type Endpoints, samlHostHandler } from '../auth/saml/module_service_host.ts';
import { saml } from '../auth/saml/module.ts';
import type { EdgeConfig, HttpsEdgeConfig, RouteConfig } from './document/schema.ts';
import type { LinkedLogin } from '../auth/module_gate.ts';
import type { PersistentMap } from '../caches/persistent_map.ts';
import { hostTable } from './hosts.ts';
import { type Context, readHostport } from './compile_filters.ts';

/** The addresses of SAML routes on the service's own host, which are configured at identity providers. */
export interface SamlHost {
  /** The pipeline of an address; null for another host or an unknown path. */
  readonly find: (host: string, path: string) => Pipeline | null;
}

/** The addresses of an edge: those of its SAML routes that have an id, with their pipelines. */
export function compileSamlAddresses(
  name: string,
  edge: HttpsEdgeConfig,
  gates: readonly (LinkedLogin | null)[],
  context: Context,
): readonly (readonly [route: string, pipeline: Pipeline])[] {
  if (!hasAddresses(edge)) return [];
  return (edge.routes as readonly RouteConfig[]).flatMap((route, index) => {
    const login = gates[index] ?? null;
    if (route.id === undefined || route.saml?.enabled !== true || login === null) return [];
    const pointer = pointerTo(`${pointerTo('/edges/https', name)}/routes`, route.id);
    const { branding, policy, cache } = context;
    const circumstances = [name, branding, policy, edge.hostports.join(' '), route, ...Object.values(login)];
    const links = { ...policy, login };
    const addresses = (watched: Context) =>
      addressesOf(name, route as Saml, pointer, links, endpointsOf(edge.hostports), watched);
    return [[route.id, cache.part(keyFor(route.saml), circumstances, context, addresses)] as const];
  });
}

/** The service's own host, with the pipelines of routes by their ids. */
export function samlHost(service: string, byId: PersistentMap<Pipeline>): SamlHost {
  const own = identityHost(service);
  return {
    find: (host, path) => {
      if (byId.size === 0 || host !== own) return null;
      const [, id] = /^\/saml\/([^/]+)(?:\/|$)/.exec(path) ?? [];
      return id === undefined ? null : (byId.get(id) ?? null);
    },
  };
}

/** Whether any route has addresses on the service's own host. */
export function servesIdentityHost({ edges }: EdgeConfig): boolean {
  return Object.values(edges.https).some(hasAddresses);
}

/** Whether a route of an edge has addresses on the service's own host. */
const hasAddresses = weakMemoize(({ routes }: HttpsEdgeConfig): boolean =>
  (routes as readonly RouteConfig[]).some(({ id, saml: gate }) => id !== undefined && gate?.enabled === true),
);

/** The handler of the module is cached by its config, so the handler at the service's host needs another key. */
const keyFor = weakMemoize((_config: object): object => ({}));

type Saml = RouteConfig & { readonly id: string; readonly saml: NonNullable<RouteConfig['saml']> };

function addressesOf(
  edge: string,
  { id, saml: config, match, match_type: matchType }: Saml,
  pointer: string,
  links: Context['policy'] & Pick<Parameters<typeof samlHostHandler>[1], 'login'>,
  endpoints: Endpoints,
  context: Context,
): Pipeline {
  const { branding, ipPolicy, backend } = context;
  const at = pointerTo(pointer, saml.type);
  const linked = {
    ...links,
    edge,
    branding,
    pointer: at,
    ipPolicy,
    backend,
    refusal: (status: number, code: number | null, message: string) =>
      refusal(branding, status, code, message),
  };
  const handler = samlHostHandler(config, linked, `/saml/${id}`, endpoints);
  const state = context.takeState(`saml host ${id}`, saml.type, config, () => handler.initial!(() => id));
  const facts = { route: id, edge, match, matchType, pointer, branding };
  return pipelineOf(facts, [
    compiledFilter({ type: saml.type, pointer: at, config }, saml.reasons, handler, state),
  ]);
}

/** The origins of the hostports of an edge. */
function endpointsOf(hostports: readonly string[]): Endpoints {
  const read = hostports.map(readHostport);
  const table = hostTable(read.map(({ host }) => [host, true] as const));
  const first = read.find(({ host }) => !host.startsWith('*.'));
  const port = first === undefined || first.port === 0 || first.port === 443 ? '' : `:${first.port}`;
  const ports = new Set(read.map((each) => String(each.port)));
  return {
    isOwn: (origin, { scheme, authority }) => {
      const url = URL.parse(origin);
      if (url === null || url.protocol !== `${scheme}:`) return false;
      const isPort = url.port === '' || ports.has(url.port) || authority.endsWith(`:${url.port}`);
      return isPort && table.find(url.hostname) === true;
    },
    standard: first === undefined ? null : `https://${first.host}${port}`,
  };
}
