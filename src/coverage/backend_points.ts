import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { CoveragePoint } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';

/** A leaf of a backend tree, and the reason if it is never dialled. */
interface Endpoint {
  readonly id: string;
  readonly impossible: string | null;
}

/** Points: each backend in a route's tree is tried. */
export function backendPoints({ id, pointer, route }: PlacedRoute, config: EdgeConfig): CoveragePoint[] {
  const root = route.backend?.backend_id;
  if (root === undefined || route.backend?.enabled === false) return [];
  return leavesOf(root, config, null).map((endpoint): CoveragePoint => {
    return {
      id: `backends ${pointer} ${endpoint.id}`,
      kind: 'backends',
      pointer: pointerTo('/backends', endpoint.id),
      span: null,
      says: `${endpoint.id} is tried for ${route.match}`,
      about: endpoint.id,
      routes: [pointer],
      impossible: endpoint.impossible,
      seen: { by: 'hit', keys: [keys.backend(id, endpoint.id)] },
    };
  });
}

function leavesOf(id: string, config: EdgeConfig, impossible: string | null): Endpoint[] {
  const { weighted, failover } = config.backends[id] ?? {};
  const found: Endpoint[] = [];
  if (weighted !== undefined) {
    const total = Object.values(weighted).reduce((sum, weight) => sum + weight, 0);
    for (const [child, weight] of Object.entries(weighted)) {
      const never = weight === 0 && total > 0 ? `its weight in ${id} is 0` : null;
      found.push(...leavesOf(child, config, impossible ?? never));
    }
  } else if (failover === undefined) {
    found.push({ id, impossible });
  } else {
    let never = impossible;
    for (const child of failover) {
      found.push(...leavesOf(child, config, never));
      if (config.backends[child]?.http_response !== undefined)
        never ??= `${child} is before it in ${id} and always responds`;
    }
  }
  return distinct(found);
}

/** A backend with several positions is possible if one of them is. */
function distinct(endpoints: readonly Endpoint[]): Endpoint[] {
  const byId = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    const known = byId.get(endpoint.id);
    if (known === undefined || known.impossible !== null) byId.set(endpoint.id, endpoint);
  }
  return [...byId.values()];
}
