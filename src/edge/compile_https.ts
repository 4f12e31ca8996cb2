import { MODULE_FACTS } from '../filters/table.ts';
import type { LinkedLogin } from '../auth/module_gate.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { type Pipeline, pipelineOf } from '../engine/pipeline.ts';
import { type Context, type ModuleConfig, compileFilters } from './compile_filters.ts';
import type { HttpsEdgeConfig, RouteConfig } from './document/schema.ts';
import type { Reserved } from './login_config.ts';
import { type RoutedPipeline, type Router, readMatch, router } from './router.ts';

/** A compiled HTTPS edge. */
export interface HttpsEdge {
  readonly name: string;
  readonly pipelines: readonly Pipeline[];
  readonly router: Router;
  /** Reserved paths of its login gates. */
  readonly reserved: readonly Reserved<Pipeline>[];
}

/** The modules that belong to an edge, not to its routes. */
const OF_EDGES = [...MODULE_FACTS.values()].filter(({ place }) => place === 'edge').map(({ type }) => type);

/** Compiles an edge; `gates` are the login gates of its routes. */
export function compileHttpsEdge(
  name: string,
  edge: HttpsEdgeConfig,
  gates: readonly (LinkedLogin | null)[],
  context: Context,
): HttpsEdge {
  const { branding, policy, cache } = context;
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
    return cache.part(route, circumstances, context, (watched) =>
      compileRoute(of, { route, place, login }, watched),
    );
  });
  const reserved = routes.flatMap(({ host, pipeline: guarded }) =>
    guarded.filters.flatMap(({ reserves }) => reserves.map((base) => ({ base, host, pipeline: guarded }))),
  );
  return { name, pipelines: routes.map(({ pipeline: own }) => own), router: router(routes), reserved };
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

/** The name of a route in states and figures: no other route of its edge has its match. */
export function routeName(
  edge: string,
  { match_type: type, match }: Pick<RouteConfig, 'match_type' | 'match'>,
): string {
  return `${edge} ${type} ${match}`;
}

function compileRoute(
  { name: edge, pointer: edgePointer, modules }: EdgeOfRoute,
  { route, place, login }: PlacedRoute,
  context: Context,
): RoutedPipeline {
  const { host, path } = readMatch(route.match);
  const exact = route.match_type === 'exact_path';
  const pointer = pointerTo(`${edgePointer}/routes`, place);
  const id = routeName(edge, route);
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
