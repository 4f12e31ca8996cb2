import { weakMemoize } from '../caches/weak_memoize.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type Pipeline, pipelineOf, compiledFilter } from '../engine/pipeline.ts';
import { refusal } from '../engine/refusals.ts';
import { identityHost } from '../auth/saml/addresses.ts';
import { type Endpoints, samlHostHandler } from '../auth/saml/module_service_host.ts';
import { saml } from '../auth/saml/module.ts';
import type { EdgeConfig, RouteConfig } from './document/schema.ts';
import { type LoginEnvironment, gatesOf } from './login_config.ts';
import { hostTable } from './hosts.ts';
import type { CompileCache } from './compile_cache.ts';
import { type Context, readHostport } from './compile_filters.ts';

/** The addresses of SAML routes on the service's own host, which are configured at identity providers. */
export interface SamlHost {
  /** The pipeline of an address; null for another host or an unknown path. */
  readonly find: (host: string, path: string) => Pipeline | null;
}

/** Compiles them for the routes that have an id. */
export function compileSamlHost(
  config: EdgeConfig,
  context: Context,
  logins: LoginEnvironment,
  kept: CompileCache,
): SamlHost {
  const byId = new Map<string, Pipeline>();
  for (const [name, edge] of Object.entries(config.edges.https)) {
    const routes: readonly RouteConfig[] = edge.routes;
    const gates = gatesOf(name, routes, logins);
    for (const [index, route] of routes.entries()) {
      const login = gates[index] ?? null;
      if (route.id === undefined || route.saml?.enabled !== true || login === null) continue;
      const pointer = pointerTo(`${pointerTo('/edges/https', name)}/routes`, route.id);
      const { branding, policy } = context;
      const circumstances = [
        name,
        branding,
        policy,
        edge.hostports.join(' '),
        route,
        ...Object.values(login),
      ];
      const addresses = (watched: Context) =>
        addressesOf(name, route as Saml, pointer, { ...policy, login }, endpointsOf(edge.hostports), watched);
      byId.set(route.id, kept.part(keyFor(route.saml), circumstances, context, addresses));
    }
  }
  const own = identityHost(context.branding.service);
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
  return Object.values(edges.https).some(({ routes }) =>
    (routes as readonly RouteConfig[]).some(
      ({ id, saml: gate }) => id !== undefined && gate?.enabled === true,
    ),
  );
}

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
  const state = context.takeState(`saml host ${id}`, saml.type, config, () => handler.initial!());
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
  return {
    isOwn: (origin) => URL.canParse(origin) && table.find(new URL(origin).hostname) === true,
    standard: first === undefined ? null : `https://${first.host}${port}`,
  };
}
