import type { Body } from './contract.ts';

interface BackendObject {
  readonly id: string;
  readonly kind: string;
  readonly body: Body;
}

/** Names under `.invalid` never resolve (RFC 6761 §6.4): no connection is attempted to a missing tunnel. */
const NOWHERE = { static: { address: 'offline.tunnel.invalid:1' } };

/** Backends of TLS and TCP edges that involve tunnels. */
export interface StreamBackends {
  /** The name of a backend for such an edge. */
  readonly nameFor: (id: string) => string;
  readonly twins: Readonly<Record<string, unknown>>;
}

/**
 * If no tunnel is online, an HTTPS edge responds with 503, but TLS and TCP edges cannot respond: for them every
 * backend that leads to a tunnel group has a copy in which connecting to the group fails.
 */
export function streamBackends(objects: readonly BackendObject[]): StreamBackends {
  const leading = new Set<string>();
  const trees = objects.filter(({ kind }) => kind.endsWith('_backend'));
  for (const { id, kind } of trees) if (kind === 'tunnel_group_backend') leading.add(id);
  const nameFor = (id: string): string => (leading.has(id) ? `${id}.stream` : id);
  if (leading.size === 0) return { nameFor, twins: {} };
  // Trees are at most three levels deep; a backend that leads to a group may itself be referenced.
  for (let before = -1; before !== leading.size;) {
    before = leading.size;
    for (const { id, body } of trees) if (childrenOf(body).some((each) => leading.has(each))) leading.add(id);
  }
  const twins: Record<string, unknown> = {};
  for (const { id, kind, body } of trees) {
    if (!leading.has(id)) continue;
    if (kind === 'tunnel_group_backend') twins[nameFor(id)] = NOWHERE;
    else if (kind === 'failover_backend') twins[nameFor(id)] = { failover: childrenOf(body).map(nameFor) };
    else {
      const weights = Object.entries(body['backends'] as Body).map(([each, weight]) => [
        nameFor(each),
        weight,
      ]);
      twins[nameFor(id)] = { weighted: Object.fromEntries(weights) };
    }
  }
  return { nameFor, twins };
}

function childrenOf(body: Body): readonly string[] {
  const children = body['backends'] as Body | readonly string[] | undefined;
  if (children === undefined) return [];
  return Array.isArray(children) ? (children as readonly string[]) : Object.keys(children);
}
