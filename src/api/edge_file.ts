import type { Body, Resource } from '../resources/contract.ts';
import { EDGE_KINDS } from '../resources/edge_document.ts';
import { ROUTE_MODULES } from '../resources/module_fields.ts';
import type { StoredObject } from '../store/port.ts';

/**
 * The edge file of a store. Objects have ids, files have names: an object that came from a file keeps its name in its
 * body, where no request can see or change it; any other object is called by its id.
 */

export const NAME_KEY = 'edge_file_name';

type Mutable = Record<string, unknown>;

export interface Exported {
  readonly document: Body;
  /** What an edge file has no words for, in sentences. */
  readonly left_out: readonly string[];
}

export function nameOf({ id, body }: Pick<StoredObject, 'id' | 'body'>): string {
  return (body[NAME_KEY] as string | undefined) ?? id;
}

const BACKENDS: Readonly<Record<string, string>> = {
  static_backend: 'static',
  http_response_backend: 'http_response',
  weighted_backend: 'weighted',
  failover_backend: 'failover',
};

/** The member of a backend in a file, by its kind. */
export function memberOf(kind: string): string | undefined {
  return BACKENDS[kind];
}

/** The kind of a backend in a file. */
export function kindOfBackend(backend: Body): string | undefined {
  return Object.keys(BACKENDS).find((kind) => backend[BACKENDS[kind]!] !== undefined);
}

/** Writes objects, oldest first, as an edge file. */
export function exportFile(objects: readonly StoredObject[], service: string): Exported {
  const names = new Map(objects.map((object) => [object.id, nameOf(object)]));
  const leftOut: string[] = [];
  const dropped = new Set<string>();
  for (const { id, kind, body } of objects) {
    const hostports = body['hostports'] as readonly string[] | undefined;
    if (kind === 'tunnel_group_backend') leave(id, 'is a tunnel group backend');
    else if (kind === 'https_edge' && !(hostports && hostports.length > 0)) leave(id, 'has no hostports');
    if (kind !== 'https_edge') continue;
    for (const module of ['mutual_tls', 'tls_termination']) {
      if (body[module] !== undefined) leftOut.push(`${module} of ${id} has no place in an edge file`);
    }
  }
  function leave(id: string, why: string): void {
    dropped.add(id);
    leftOut.push(`${id} ${why}`);
  }

  const policies: Record<string, Mutable & { rules: unknown[] }> = {};
  const backends: Mutable = {};
  const edges: Record<string, Mutable & { routes: unknown[] }> = {};
  for (const object of objects) {
    const { id, kind, body } = object;
    const name = names.get(id)!;
    if (dropped.has(id)) continue;
    if (kind === 'ip_policy') policies[name] = { ...notesOf(body), rules: [] };
    else if (BACKENDS[kind] !== undefined) backends[name] = backendOf(object, names, dropped);
    else if (kind === 'https_edge') {
      edges[name] = { ...notesOf(body), hostports: body['hostports'], routes: [] };
    }
  }
  for (const { kind, parent, body } of objects) {
    const owner = names.get(parent ?? '') ?? '';
    if (kind === 'ip_policy_rule') {
      policies[owner]!.rules.push({ ...notesOf(body), cidr: body['cidr'], action: body['action'] });
    } else if (kind === 'https_edge_route') edges[owner]?.routes.push(routeOf(body, names, dropped));
  }
  const document = { service_name: service, ip_policies: policies, backends, edges: { https: edges } };
  return { document, left_out: leftOut };
}

function notesOf(body: Body): Mutable {
  const notes = ['description', 'metadata'].filter((key) => body[key] !== undefined && body[key] !== '');
  return Object.fromEntries(notes.map((key) => [key, body[key]]));
}

function backendOf(
  { kind, body }: StoredObject,
  names: ReadonlyMap<string, string>,
  dropped: ReadonlySet<string>,
): Mutable {
  const notes = notesOf(body);
  const member = BACKENDS[kind]!;
  const keep = (id: string): boolean => !dropped.has(id);
  switch (kind) {
    case 'static_backend':
      return { ...notes, [member]: { address: body['address'], tls: body['tls'] } };
    case 'http_response_backend':
      return {
        ...notes,
        [member]: { status_code: body['status_code'], headers: body['headers'], body: body['body'] },
      };
    case 'weighted_backend': {
      const children = Object.entries(body['backends'] as Body).filter(([id]) => keep(id));
      return {
        ...notes,
        [member]: Object.fromEntries(children.map(([id, weight]) => [names.get(id)!, weight])),
      };
    }
    default:
      return { ...notes, [member]: (body['backends'] as string[]).filter(keep).map((id) => names.get(id)!) };
  }
}

function routeOf(body: Body, names: ReadonlyMap<string, string>, dropped: ReadonlySet<string>): Mutable {
  const route: Mutable = { match_type: body['match_type'], match: body['match'], ...notesOf(body) };
  for (const name of Object.keys(ROUTE_MODULES)) {
    const module = body[name] as Body | undefined;
    if (module === undefined) continue;
    if (name === 'backend') {
      const id = module['backend_id'] as string;
      if (!dropped.has(id)) route[name] = { ...module, backend_id: names.get(id)! };
    } else if (name === 'ip_restriction') {
      const ids = module['ip_policy_ids'] as readonly string[];
      route[name] = { ...module, ip_policy_ids: ids.map((id) => names.get(id)!) };
    } else route[name] = module;
  }
  return route;
}

/** Kinds that an edge file speaks of. */
export const FILE_KINDS: readonly string[] = EDGE_KINDS.filter(
  (kind) => kind !== 'tunnel_group_backend' && kind !== 'ip_restriction',
);

/** Members of a resource that an edge file has no words for: applying a file leaves them as they are. */
export function unspoken(resource: Resource): readonly string[] {
  return resource.kind === 'https_edge' ? ['mutual_tls', 'tls_termination'] : [];
}
