import type { PlacedRoute } from '../../coverage/placed_routes.ts';
import { pointersFrom } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { readMatch } from '../../edge/router.ts';
import { isPlain, looseText } from '../../http/readings.ts';
import type { Draft } from './draft.ts';
import type { DraftRun } from './run_draft.ts';

/** A request that was run. */
export interface RoutedDraft {
  readonly draft: Draft;
  /** Ids of the routes that it took. */
  readonly routes: ReadonlySet<string>;
  readonly isLogin: boolean;
}

/** Ids of the routes that a run took, internal endpoints included. */
export function routesTaken({ simulatedRequests, connection }: DraftRun): ReadonlySet<string> {
  const stream = connection?.exchange;
  const pipelines = simulatedRequests.flatMap(({ exchange }) => [
    exchange.pipeline,
    exchange.inside?.pipeline,
  ]);
  const ids = pipelines.flatMap((pipeline) => pipeline?.route ?? []);
  const streams = [stream?.pipeline, stream?.inside?.pipeline];
  return new Set([...ids, ...streams.flatMap((each) => (each ? [`${each.kind}:${each.edge}`] : []))]);
}

/** The route, or the TLS or TCP edge, that contains a change; null for other changes. */
export function routeOf(pointer: string, routes: ReadonlyMap<string, PlacedRoute>): PlacedRoute | null {
  const found = pointersFrom(pointer).flatMap((each) => routes.get(each) ?? []);
  // Without a TLS or TCP edge, its connections may reach an edge of another kind.
  return found.find((route) => route.kind === 'https' || route.pointer !== pointer) ?? null;
}

/** Tells which requests a change may affect: those that took its route, and those that could take it afterwards. */
export function mayAffect(
  pointer: string,
  route: PlacedRoute | null,
  { routes, changed }: { readonly routes: ReadonlyMap<string, PlacedRoute>; readonly changed: EdgeConfig },
): (request: RoutedDraft) => boolean {
  if (route === null) return () => true;
  const [member = ''] = pointer.slice(route.pointer.length + 1).split('/');
  switch (member) {
    case 'hostports':
      return () => true;
    case '': {
      // The route is missing, or has changed places with the one before.
      const before = routes.get(pointerBefore(route))?.id ?? route.id;
      return (request) =>
        request.routes.has(route.id) || request.routes.has(before) || mayTakeAnyRoute(request);
    }
    case 'match':
    case 'match_type': {
      const { match } = onlyRoute(changed, route).edges.https[route.edge]!.routes[0]!;
      const path = looseText(readMatch(match).path);
      return (request) =>
        request.routes.has(route.id) || mayTakeAnyRoute(request) || request.draft.path.startsWith(path);
    }
    default:
      return (request) => request.routes.has(route.id);
  }
}

/** Whether its path, as it is written, does not decide alone which routes a request takes. */
function mayTakeAnyRoute({ draft, isLogin, routes }: RoutedDraft): boolean {
  // Internal endpoints may get another path.
  return isLogin || draft.as !== null || routes.size > 1 || !isPlain(draft);
}

function indexOf({ pointer }: PlacedRoute): number {
  return Number(pointer.slice(pointer.lastIndexOf('/') + 1));
}

/** The pointer of the route before; no route has it if this one is the first. */
function pointerBefore(route: PlacedRoute): string {
  const { pointer } = route;
  return `${pointer.slice(0, pointer.lastIndexOf('/'))}/${indexOf(route) - 1}`;
}

/** A configuration with only one route of its HTTPS edge: all others have the values that are known. */
export function onlyRoute(config: EdgeConfig, placed: PlacedRoute): EdgeConfig {
  const { edge, kind } = placed;
  const { edges } = config;
  if (kind !== 'https') return config;
  const own = edges.https[edge]!;
  const route = own.routes[indexOf(placed)];
  const routes = route === undefined ? [] : [route];
  return { ...config, edges: { https: { [edge]: { ...own, routes } }, tls: {}, tcp: {} } };
}
