import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig, RouteConfig } from '../../edge/document/schema.ts';

/** A route of the configuration with its place. */
export interface PlacedRoute {
  readonly edge: string;
  readonly pointer: string;
  /** As pipelines name it. */
  readonly id: string;
  readonly route: RouteConfig;
}

/** The routes of all edges. */
export function placedRoutes({ edges }: EdgeConfig): PlacedRoute[] {
  return Object.entries(edges.https).flatMap(([edge, { routes }]) =>
    routes.map((route, index) => ({
      edge,
      route,
      pointer: pointerTo(`${pointerTo('/edges/https', edge)}/routes`, index),
      id: `${edge} ${route.match_type} ${route.match}`,
    })),
  );
}
