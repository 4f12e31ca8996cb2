import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { ModuleFacts } from '../filters/facts.ts';
import { MODULE_FACTS } from '../filters/table.ts';
import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';

/** A route of the configuration with its place. A TLS or TCP edge counts as a route of its own. */
export interface PlacedRoute {
  readonly edge: string;
  readonly kind: 'https' | 'tls' | 'tcp';
  readonly pointer: string;
  /** As in pipelines. */
  readonly id: string;
  /** For a TLS or TCP edge `match` is its first hostport. */
  readonly route: RouteConfig;
}

/** The routes of all HTTPS edges. */
export function placedRoutes({ edges }: EdgeConfig): PlacedRoute[] {
  return Object.entries(edges.https).flatMap(([edge, { routes }]) =>
    routes.map((route, index) => ({
      edge,
      kind: 'https' as const,
      route,
      pointer: pointerTo(`${pointerTo('/edges/https', edge)}/routes`, index),
      id: `${edge} ${route.match_type} ${route.match}`,
    })),
  );
}

/** The TLS and TCP edges. */
export function placedStreams({ edges }: EdgeConfig): PlacedRoute[] {
  return (['tls', 'tcp'] as const).flatMap((kind) =>
    Object.entries(edges[kind]).map(([edge, own]) => ({
      edge,
      kind,
      // A subset of a route's modules.
      route: { ...own, match_type: 'exact_path', match: own.hostports[0]! } as unknown as RouteConfig,
      pointer: pointerTo(`/edges/${kind}`, edge),
      id: `${kind}:${edge}`,
    })),
  );
}

/** All routes and TLS and TCP edges. */
export function placedAll(config: EdgeConfig): PlacedRoute[] {
  return [...placedRoutes(config), ...placedStreams(config)];
}

/** A module of an edge or a route, enabled or not. */
interface PlacedModule {
  readonly kind: PlacedRoute['kind'];
  readonly facts: ModuleFacts<never>;
  readonly config: never;
}

/** All modules of a configuration. */
export function modulesOf(config: EdgeConfig): PlacedModule[] {
  const ofEdges = Object.values(config.edges.https).map((thing) => ({ kind: 'https' as const, thing }));
  const ofRoutes = placedAll(config).map(({ kind, route }) => ({ kind, thing: route }));
  return [...ofEdges, ...ofRoutes].flatMap(({ kind, thing }) =>
    Object.entries(thing).flatMap(([type, own]) => {
      const facts = MODULE_FACTS.get(type);
      return facts === undefined || own === undefined ? [] : [{ kind, facts, config: own as never }];
    }),
  );
}
