import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { isAdded } from '../edge/extension.ts';
import type { CoveragePoint } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';

/** A leaf of a backend tree, and the reason if it is never dialled. */
interface Endpoint {
  readonly id: string;
  readonly impossible: string | null;
}

/** Points: each backend in a route's tree is tried, and no agent is online for it. */
export function backendPoints(
  { id, edge, kind, pointer, route }: PlacedRoute,
  config: EdgeConfig,
): CoveragePoint[] {
  const root = route.backend?.backend_id;
  if (root === undefined || route.backend?.enabled === false) return [];
  const leaves = leavesOf(root, config, null);
  const tried = leaves.map(({ id: leaf, impossible }): CoveragePoint => ({
    id: `backends ${pointer} ${leaf}`,
    kind: 'backends',
    pointer: pointerTo('/backends', leaf),
    span: null,
    message: `${leaf} is tried for ${route.match}`,
    about: leaf,
    routes: [pointer],
    impossible,
    seen: { by: 'hit', keys: [keys.backend(id, leaf)] },
  }));
  if (!leaves.some((leaf) => isOfAgents(leaf, config))) return tried;
  const at = pointerTo(pointer, 'backend');
  const offline: CoveragePoint = {
    id: `backends ${at} ${OFFLINE_CODE}`,
    kind: 'backends',
    pointer: at,
    span: null,
    message: `no agent is online for ${route.match}`,
    routes: [pointer],
    impossible: isAdded(config, kind, edge) ? GOES : neverOffline(root, config),
    seen: { by: 'hit', keys: [keys.reason(at, OFFLINE_CODE)] },
  };
  return [...tried, offline];
}

const GOES = 'the endpoint goes with its last agent';
const OFFLINE_CODE = 'backend.offline';

function isOfAgents({ id }: Endpoint, config: EdgeConfig): boolean {
  return config.backends[id]?.tunnel_group !== undefined;
}

/** Why a tree always has an endpoint, whatever agents do; null if it may have none. */
function neverOffline(id: string, config: EdgeConfig): string | null {
  const { weighted, failover, tunnel_group: group } = config.backends[id] ?? {};
  if (group !== undefined) return null;
  if (weighted !== undefined) {
    const chosen = Object.keys(weighted).filter((child) => weighted[child]! > 0);
    const reasons = chosen.map((child) => neverOffline(child, config));
    return reasons.includes(null) ? null : (reasons[0] ?? `all weights of ${id} are 0`);
  }
  if (failover === undefined) return `${id} needs no agent`;
  if (failover.length === 0) return `${id} has no children`;
  const others = failover.flatMap((child) => neverOffline(child, config) ?? []);
  return others[0] ?? null;
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
