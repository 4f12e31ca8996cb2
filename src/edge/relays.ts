import type { EdgeConfig } from './document/schema.ts';

/** A backend, and all that it consists of. */
export function partsOfBackend({ backends }: Pick<EdgeConfig, 'backends'>, id: string): readonly string[] {
  const { weighted, failover = [] } = backends[id] ?? {};
  const parts = weighted === undefined ? failover : Object.keys(weighted);
  return [id, ...parts.flatMap((name) => partsOfBackend({ backends }, name))];
}

/** Whether a backend takes every request, as far as the configuration says: agents may be absent, and weights be 0. */
export function takesAll({ backends }: Pick<EdgeConfig, 'backends'>, id: string): boolean {
  const { static: address, http_response: response, weighted, failover = [] } = backends[id] ?? {};
  if (address !== undefined || response !== undefined) return true;
  const parts =
    weighted === undefined ? failover : Object.keys(weighted).filter((name) => weighted[name]! > 0);
  return parts.length > 0 && parts.every((name) => takesAll({ backends }, name));
}

/**
 * The TLS and TCP edges over which requests may reach a backend past all routes: they relay bytes, whatever protocol is
 * inside. Without a backend, those that reach any (`any`), or one that a route uses, too.
 */
export function relaysTo(config: EdgeConfig, backend: string | undefined, any: boolean): readonly string[] {
  const { https, tls, tcp } = config.edges;
  const reached = (holder: {
    readonly backend?: { readonly enabled: boolean; readonly backend_id: string } | undefined;
  }) => (holder.backend?.enabled === true ? partsOfBackend(config, holder.backend.backend_id) : []);
  const routed = new Set(Object.values(https).flatMap(({ routes }) => routes.flatMap(reached)));
  const isMeant = (id: string): boolean => (backend === undefined ? any || routed.has(id) : id === backend);
  return Object.entries({ tls, tcp }).flatMap(([kind, edges]) =>
    Object.entries(edges).flatMap(([name, edge]) =>
      reached(edge).some(isMeant) ? [`the ${kind.toUpperCase()} edge ${name}`] : [],
    ),
  );
}
