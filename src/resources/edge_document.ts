import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { restricted } from './account_restriction.ts';
import type { Body } from './contract.ts';
import { ROUTE_MODULES } from './module_fields.ts';

/** Kinds of object that an edge is made of. */
export const EDGE_KINDS = [
  'ip_policy',
  'ip_policy_rule',
  'static_backend',
  'http_response_backend',
  'weighted_backend',
  'failover_backend',
  'tunnel_group_backend',
  'https_edge',
  'https_edge_route',
  'ip_restriction',
];

export interface EdgeObject {
  readonly id: string;
  readonly kind: string;
  readonly parent: string | null;
  readonly body: Body;
}

/** The configuration that the objects make: names are ids, in the form of the edge file. */
export interface EdgeDocument {
  readonly value: Record<string, unknown>;
  /** Where each route stands: the pointer of its object. */
  readonly pointers: ReadonlyMap<string, string>;
  /** Edges that ask for client certificates, which this version cannot do. */
  readonly closed: readonly string[];
  /** Edges without a hostport: checked, but nothing leads to them. */
  readonly hidden: readonly string[];
  /** IP policies that every endpoint is restricted to; null when no such restriction is enforced. */
  readonly restriction: readonly string[] | null;
}

const TUNNELS_OFFLINE = { status_code: 503, body: 'No tunnel of this backend is online.\n' };
const MUTUAL_TLS_NOT_RUN = { status_code: 501, body: 'This version does not run mutual TLS.\n' };
const CLOSED = 'mutual_tls_not_run';

/** Turns objects, oldest first, into one configuration. */
export function edgeDocument(objects: readonly EdgeObject[], service: string): EdgeDocument {
  const policies: Record<string, { rules: unknown[] }> = {};
  const backends: Record<string, unknown> = {};
  const edges: Record<string, { hostports: unknown; routes: unknown[] }> = {};
  const pointers = new Map<string, string>();
  const closed: string[] = [];
  const hidden: string[] = [];
  let restriction: readonly string[] | null = null;
  for (const { id, kind, body } of objects) {
    if (kind === 'ip_policy') policies[id] = { rules: [] };
    else if (kind === 'ip_restriction') {
      const isMeant = body['type'] === 'endpoints' && body['enforced'] === true;
      if (isMeant) restriction = body['ip_policy_ids'] as readonly string[];
    } else if (kind === 'https_edge') {
      const hostports = body['hostports'] as readonly string[] | undefined;
      const isHidden = hostports === undefined || hostports.length === 0;
      if (isHidden) hidden.push(id);
      if ((body['mutual_tls'] as { enabled?: boolean } | undefined)?.enabled === true) closed.push(id);
      edges[id] = {
        hostports: isHidden ? [`${id.replaceAll('_', '-')}.invalid:443`] : hostports,
        routes: [],
      };
    } else if (kind.endsWith('_backend')) backends[id] = backendOf(kind, body);
  }
  for (const { id, kind, parent, body } of objects) {
    if (kind === 'ip_policy_rule') {
      const { rules } = policies[body['ip_policy_id'] as string]!;
      pointers.set(id, `/ip_policies/${String(body['ip_policy_id'])}/rules/${rules.length}`);
      rules.push({ cidr: body['cidr'], action: body['action'] });
    } else if (kind === 'https_edge_route') {
      const { routes } = edges[parent!]!;
      pointers.set(id, `/edges/https/${parent!}/routes/${routes.length}`);
      routes.push(routeOf(body));
    }
  }
  const value = { service_name: service, ip_policies: policies, backends, edges: { https: edges } };
  return { value, pointers, closed, hidden, restriction };
}

/** A backend in the form of the edge file. */
function backendOf(kind: string, body: Body): Body {
  switch (kind) {
    case 'static_backend':
      return { static: { address: body['address'], tls: body['tls'] } };
    case 'http_response_backend':
      return {
        http_response: { status_code: body['status_code'], headers: body['headers'], body: body['body'] },
      };
    case 'weighted_backend':
      return { weighted: body['backends'] };
    case 'failover_backend':
      return { failover: body['backends'] };
    // No session can be open yet, so no tunnel fits.
    default:
      return { http_response: TUNNELS_OFFLINE };
  }
}

/** A route in the form of the edge file. */
function routeOf(body: Body): Body {
  const modules = Object.keys(ROUTE_MODULES).filter((name) => body[name] !== undefined);
  return {
    match_type: body['match_type'],
    match: body['match'],
    ...Object.fromEntries(modules.map((name) => [name, body[name]])),
  };
}

/**
 * What may be served of a checked configuration: nothing of edges without a hostport, and nothing but a refusal of
 * edges that ask for client certificates, because letting a request through would open what they guard.
 */
export function servedConfig(checked: EdgeConfig, document: EdgeDocument): EdgeConfig {
  const { closed, hidden, restriction } = document;
  const named = withRouteIds(checked, document);
  const config = restriction === null ? named : restricted(named, restriction);
  if (closed.length === 0 && hidden.length === 0) return config;
  const https = { ...config.edges.https };
  for (const id of closed) {
    https[id] = {
      ...https[id]!,
      routes: [{ match_type: 'path_prefix', match: '/', backend: { enabled: true, backend_id: CLOSED } }],
    };
  }
  for (const id of hidden) delete https[id];
  const refusal = { http_response: { ...MUTUAL_TLS_NOT_RUN, headers: {} } };
  return {
    ...config,
    backends: { ...config.backends, [CLOSED]: refusal },
    edges: { ...config.edges, https },
  };
}

/** Gives the routes their ids, which are part of the addresses that identity providers know. */
function withRouteIds(config: EdgeConfig, { pointers }: EdgeDocument): EdgeConfig {
  const https = { ...config.edges.https };
  for (const [id, pointer] of pointers) {
    const [, edge, index] = /^\/edges\/https\/([^/]+)\/routes\/(\d+)$/.exec(pointer) ?? [];
    if (edge === undefined || https[edge] === undefined) continue;
    const { routes } = https[edge];
    const named: RouteConfig = { ...routes[Number(index)]!, id };
    https[edge] = { ...https[edge], routes: routes.with(Number(index), named) };
  }
  return { ...config, edges: { ...config.edges, https } };
}

/** Where in the request's object a finding about the configuration is. */
export function pointerInObject(pointer: string, object: EdgeObject, document: EdgeDocument): string | null {
  const { id, kind } = object;
  const inside = (place: string): string | null =>
    pointer === place || pointer.startsWith(`${place}/`) ? pointer.slice(place.length) : null;
  const listed = document.pointers.get(id);
  if (listed !== undefined) return inside(listed);
  if (kind === 'https_edge') return inside(`/edges/https/${id}`);
  const below = inside(`/backends/${id}`);
  if (below === null) return null;
  return kind === 'weighted_backend' || kind === 'failover_backend'
    ? below.replace(/^\/(?:weighted|failover)/, '/backends')
    : below.replace(/^\/(?:static|http_response)/, '');
}
