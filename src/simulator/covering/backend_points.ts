import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { CoveragePoint } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';

/** A backend at the end of a tree, and why it is never dialled, where that is so. */
interface Leaf {
  readonly id: string;
  readonly impossible: string | null;
}

/** That each backend of a route's tree is tried. */
export function backendPoints({ id, pointer, route }: PlacedRoute, config: EdgeConfig): CoveragePoint[] {
  const root = route.backend?.backend_id;
  if (root === undefined || route.backend?.enabled === false) return [];
  return leavesOf(root, config, null).map((leaf): CoveragePoint => {
    return {
      id: `backends ${pointer} ${leaf.id}`,
      kind: 'backends',
      pointer: pointerTo('/backends', leaf.id),
      span: null,
      says: `${leaf.id} is tried for ${route.match}`,
      routes: [pointer],
      impossible: leaf.impossible,
      seen: { by: 'hit', keys: [keys.backend(id, leaf.id)] },
    };
  });
}

function leavesOf(id: string, config: EdgeConfig, impossible: string | null): Leaf[] {
  const { weighted, failover } = config.backends[id] ?? {};
  const found: Leaf[] = [];
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
        never ??= `${child} stands before it in ${id} and never fails to answer`;
    }
  }
  return distinct(found);
}

/** A backend that stands at several places is possible where one of them is. */
function distinct(leaves: readonly Leaf[]): Leaf[] {
  const byId = new Map<string, Leaf>();
  for (const leaf of leaves) {
    const known = byId.get(leaf.id);
    if (known === undefined || known.impossible !== null) byId.set(leaf.id, leaf);
  }
  return [...byId.values()];
}
