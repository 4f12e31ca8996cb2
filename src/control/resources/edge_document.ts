import { weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { CloudEndpoints } from '../../edge/document/check.ts';
import type { EdgeConfig, RouteConfig } from '../../edge/document/schema.ts';
import { restricted } from './account_restriction.ts';
import type { Body, ResourceObject } from './contract.ts';
import {
  FAMILY_OF_SCHEME,
  authorityOf,
  backendOf,
  certificateOf,
  edgeOf,
  endpointOf,
  routeOf,
} from './edge_values.ts';
import { placeOfEndpoint } from './endpoints.ts';
import { RESOURCES } from './table.ts';

/** The kinds of object that make up an edge, parts after their parents. */
export const EDGE_KINDS = RESOURCES.filter(({ drivesEdge }) => drivesEdge === true).map(({ kind }) => kind);

/** Settings of an edge file besides its objects. */
export interface FileSettings {
  readonly facts?: unknown;
  readonly address_databases?: readonly string[];
  readonly underscore_headers?: 'drop' | 'pass';
}

/** The settings that are set in a file or an object like it. */
export function settingsIn(file: FileSettings): FileSettings {
  const { facts, address_databases: databases, underscore_headers: underscores } = file;
  return {
    ...(facts !== undefined && { facts }),
    ...(databases !== undefined && { address_databases: databases }),
    ...(underscores !== undefined && { underscore_headers: underscores }),
  };
}

/** The configuration made from the objects, in the form of the edge file: names are ids. */
export interface EdgeDocument {
  readonly value: Record<string, unknown>;
  /** Complete IP policies. In `value` they have no rules, because each rule was checked when it was written. */
  readonly policies: EdgeConfig['ip_policies'];
  /** Ids of routes by their edge, in the order of `value`. */
  readonly routeIds: Readonly<Record<string, readonly string[]>>;
  /** Edges without a hostport: checked, but unreachable. */
  readonly hidden: readonly { readonly family: EdgeFamily; readonly id: string }[];
  /** The edges that are cloud endpoints, by id. */
  readonly endpoints: CloudEndpoints;
  /** IP policies that restrict every endpoint; null if no such restriction is enforced. */
  readonly restriction: readonly string[] | null;
  /** Values of vault secrets by vault and name. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type EdgeFamily = 'https' | 'tls' | 'tcp';

const FAMILIES: Readonly<Record<string, EdgeFamily>> = {
  https_edge: 'https',
  tls_edge: 'tls',
  tcp_edge: 'tcp',
};
/** Without a prototype, because keys come from user input. */
const empty = <Value>(): Record<string, Value> => Object.create(null) as Record<string, Value>;

/** The state of a document during its construction. */
interface Draft {
  readonly backends: Record<string, unknown>;
  readonly authorities: Record<string, unknown>;
  readonly certificates: Record<string, unknown>;
  readonly edges: Readonly<Record<EdgeFamily, Record<string, Body>>>;
  readonly routes: Record<string, unknown[]>;
  readonly routeIds: Record<string, string[]>;
  readonly hidden: { readonly family: EdgeFamily; readonly id: string }[];
  readonly endpoints: Record<string, { readonly isPooled: boolean }>;
  readonly vaults: Map<string, Record<string, string>>;
  readonly secrets: Record<string, Record<string, string>>;
  restriction: readonly string[] | null;
}

/** What a configuration is built from. */
export interface DocumentParts {
  /** Oldest first, references before referrers; without the rules of IP policies. */
  readonly objects: readonly ResourceObject[];
  readonly policies: EdgeDocument['policies'];
  readonly service: string;
  readonly settings: FileSettings;
}

/** Builds one configuration. */
export function edgeDocument({ objects, policies, service, settings }: DocumentParts): EdgeDocument {
  const draft: Draft = {
    backends: {},
    authorities: {},
    certificates: {},
    edges: { https: {}, tls: {}, tcp: {} },
    routes: {},
    routeIds: {},
    hidden: [],
    endpoints: {},
    vaults: new Map(),
    secrets: empty(),
    restriction: null,
  };
  // The certificate of a reserved domain takes precedence over others for the same domain.
  for (const { kind, body } of objects) {
    if (kind === 'domain' && body['certificate_id'] !== undefined)
      draft.certificates[body['certificate_id'] as string] = null;
  }
  for (const object of objects) put(draft, object);
  const { backends, authorities, certificates, edges } = draft;
  const value = {
    service_name: service,
    ...settingsIn(settings),
    ip_policies: withoutRules(policies),
    backends,
    certificate_authorities: authorities,
    tls_certificates: certificates,
    edges,
  };
  const { routeIds, hidden, endpoints, restriction, secrets } = draft;
  return { value, policies, routeIds, hidden, endpoints, restriction, secrets };
}

const withoutRules = weakMemoize((policies: EdgeDocument['policies']) =>
  Object.fromEntries(Object.keys(policies).map((id) => [id, { rules: [] }])),
);

/** Adds one object to the configuration. */
function put(draft: Draft, { id, kind, parent, body }: ResourceObject): void {
  switch (kind) {
    case 'https_edge_route': {
      const routes = draft.routes[parent!]!;
      routes.push(routeOf(body));
      draft.routeIds[parent!]!.push(id);
      return;
    }
    case 'certificate_authority':
      draft.authorities[id] = authorityOf(body);
      return;
    case 'tls_certificate':
      draft.certificates[id] = certificateOf(body);
      return;
    case 'ip_restriction':
      if (body['type'] === 'endpoints' && body['enforced'] === true)
        draft.restriction = body['ip_policy_ids'] as readonly string[];
      return;
    case 'endpoint': {
      draft.endpoints[id] = { isPooled: body['pooling_enabled'] === true };
      draft.routeIds[id] = [id];
      draft.edges[FAMILY_OF_SCHEME[placeOfEndpoint(body).scheme]][id] = endpointOf(body);
      return;
    }
    case 'vault': {
      const texts = empty<string>();
      draft.vaults.set(id, texts);
      draft.secrets[String(body['name'])] = texts;
      return;
    }
    case 'secret':
      draft.vaults.get(String(body['vault_id']))![String(body['name'])] = String(body['value']);
      return;
    default:
  }
  if (FAMILIES[kind] !== undefined) placeEdge(draft, FAMILIES[kind], id, body);
  else if (kind.endsWith('_backend')) {
    draft.backends[id] = backendOf(body, [kind]);
  }
}

function placeEdge(draft: Draft, family: EdgeFamily, id: string, body: Body): void {
  const hostports = (body['hostports'] ?? []) as readonly string[];
  if (hostports.length === 0) draft.hidden.push({ family, id });
  const edge = edgeOf(body, [id]);
  if (family === 'https') {
    draft.routeIds[id] = [];
    const routes: unknown[] = [];
    draft.routes[id] = routes;
    draft.edges.https[id] = { ...edge, routes };
    return;
  }
  draft.edges[family][id] = edge;
}

/** The part of a checked configuration that can be served: without the edges that have no hostport. */
export function servedConfig(checked: EdgeConfig, document: EdgeDocument): EdgeConfig {
  const { hidden, restriction, policies } = document;
  const named = withRouteIds({ ...checked, ip_policies: policies }, document);
  const config = restriction === null ? named : restricted(named, restriction);
  if (hidden.length === 0) return config;
  const edges = {
    https: { ...config.edges.https },
    tls: { ...config.edges.tls },
    tcp: { ...config.edges.tcp },
  };
  for (const { family, id } of hidden) delete edges[family][id];
  return { ...config, edges };
}

/** Sets the ids of the routes, which are part of the URLs registered at identity providers. */
function withRouteIds(config: EdgeConfig, { routeIds }: EdgeDocument): EdgeConfig {
  const https = Object.entries(config.edges.https).map(([id, edge]) => {
    const routes = edge.routes.map((route, index) => withId(route, [routeIds[id]![index]!]));
    return [id, Object.assign({}, edge, { routes })] as const;
  });
  return { ...config, edges: { ...config.edges, https: Object.fromEntries(https) } };
}

/** A route with its id: an unchanged route gives the same object again. */
const withId = weakMemoizeLast((route: RouteConfig, [id]: readonly [string]): RouteConfig => ({
  ...route,
  id,
}));

/** The place in the request's object of a finding about the configuration. */
export function pointerInObject(
  pointer: string,
  object: ResourceObject,
  { routeIds }: EdgeDocument,
): string | null {
  const place = placeOf(object, routeIds);
  if (place === null || (pointer !== place && !pointer.startsWith(`${place}/`))) return null;
  const below = pointer.slice(place.length);
  const { kind } = object;
  if (kind === 'endpoint')
    return below
      .replace(/^\/hostports.*/, '/url')
      .replace(/^(?:\/routes\/0)?(\/traffic_policy)\/value/, '$1');
  if (!kind.endsWith('_backend')) return below;
  return kind === 'weighted_backend' || kind === 'failover_backend'
    ? below.replace(/^\/(?:weighted|failover)/, '/backends')
    : below.replace(/^\/(?:static|http_response|tunnel_group)/, '');
}

function placeOf(
  { id, kind, parent, body }: ResourceObject,
  routeIds: EdgeDocument['routeIds'],
): string | null {
  if (kind === 'https_edge_route')
    return `/edges/https/${parent!}/routes/${routeIds[parent!]?.indexOf(id) ?? -1}`;
  if (kind === 'endpoint') return `/edges/${FAMILY_OF_SCHEME[placeOfEndpoint(body).scheme]}/${id}`;
  if (kind === 'certificate_authority') return `/certificate_authorities/${id}`;
  if (kind === 'tls_certificate') return `/tls_certificates/${id}`;
  if (kind.endsWith('_backend')) return `/backends/${id}`;
  return FAMILIES[kind] === undefined ? null : `/edges/${FAMILIES[kind]}/${id}`;
}
