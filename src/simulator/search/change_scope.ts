import type { PlacedRoute } from '../../coverage/placed_routes.ts';
import { pointersFrom } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { readMatch } from '../../edge/router.ts';
import { isPlain, looseText } from '../../http/readings.ts';
import type { Draft } from './draft.ts';

/** A request, and the routes that it took. */
export interface Trail {
  readonly draft: Draft;
  /** Ids of routes. */
  readonly routes: ReadonlySet<string>;
  readonly isLogin: boolean;
}

/** The route, or the TLS or TCP edge, that contains a change; null for other changes. */
export function routeOf(pointer: string, routes: ReadonlyMap<string, PlacedRoute>): PlacedRoute | null {
  const found = pointersFrom(pointer).flatMap((each) => routes.get(each) ?? []);
  // What is left of a TLS or TCP edge that is missing may be of another kind.
  return found.find((route) => route.kind === 'https' || route.pointer !== pointer) ?? null;
}

/** Whether a request may see a change: none of a route that it neither took nor could take afterwards. */
export function seenBy(
  pointer: string,
  route: PlacedRoute | null,
  { routes, changed }: { readonly routes: ReadonlyMap<string, PlacedRoute>; readonly changed: EdgeConfig },
): (witness: Trail) => boolean {
  const member = route === null ? '' : (pointersFrom(pointer.slice(route.pointer.length)).at(-2) ?? '');
  if (route === null || member === '/hostports') return () => true;
  // It is missing, or has changed places with the one before.
  if (member === '') {
    const before = routes.get(routePointer(route, indexOf(route) - 1))?.id ?? route.id;
    return (witness) => took(witness, route.id) || took(witness, before) || isVague(witness);
  }
  if (member !== '/match' && member !== '/match_type') return (witness) => took(witness, route.id);
  const { match } = onlyRoute(changed, route).edges.https[route.edge]!.routes[0]!;
  const path = looseText(readMatch(match).path);
  return (witness) => took(witness, route.id) || isVague(witness) || witness.draft.path.startsWith(path);
}

function took({ routes }: Trail, id: string): boolean {
  return routes.has(id);
}

/** Whether more than its path as it is written decides which routes a request takes. */
function isVague({ draft, isLogin }: Trail): boolean {
  return isLogin || draft.as !== null || !isPlain(draft.path);
}

function indexOf({ pointer }: PlacedRoute): number {
  return Number(pointer.slice(pointer.lastIndexOf('/') + 1));
}

function routePointer({ pointer }: PlacedRoute, index: number): string {
  return `${pointer.slice(0, pointer.lastIndexOf('/'))}/${index}`;
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
