import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { restricted } from './account_restriction.ts';
import type { Body } from './contract.ts';
import { ROUTE_MODULES } from './module_fields.ts';
import { streamBackends } from './stream_backends.ts';

/** Kinds of object that an edge is made of, parts after what they are a part of. */
export const EDGE_KINDS = [
  'ip_policy',
  'ip_policy_rule',
  'static_backend',
  'http_response_backend',
  'weighted_backend',
  'failover_backend',
  'tunnel_group_backend',
  'certificate_authority',
  'tls_certificate',
  'domain',
  'https_edge',
  'https_edge_route',
  'tls_edge',
  'tcp_edge',
  'ip_restriction',
  'vault',
  'secret',
];

export interface EdgeObject {
  readonly id: string;
  readonly kind: string;
  readonly parent: string | null;
  readonly body: Body;
}

/** What an edge file says beside its objects. */
export interface FileSettings {
  readonly facts?: unknown;
  readonly address_databases?: readonly string[];
}

/** The configuration that the objects make: names are ids, in the form of the edge file. */
export interface EdgeDocument {
  readonly value: Record<string, unknown>;
  /** Where objects stand: the pointer by the id. */
  readonly pointers: ReadonlyMap<string, string>;
  /** Ids of routes by their edge, in the order of `value`. */
  readonly routeIds: Readonly<Record<string, readonly string[]>>;
  /** Edges without a hostport: checked, but nothing leads to them. */
  readonly hidden: readonly { readonly family: EdgeFamily; readonly id: string }[];
  /** IP policies that every endpoint is restricted to; null when no such restriction is enforced. */
  readonly restriction: readonly string[] | null;
  /** Texts of vault secrets by vault and name. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export type EdgeFamily = 'https' | 'tls' | 'tcp';

/** The name that an object has in an edge file is kept under this key. */
export const NAME_KEY = 'edge_file_name';

/** What an edge file can say and requests cannot is kept under this key, where no response shows it. */
export const MORE_KEY = 'edge_file_more';

const TUNNELS_OFFLINE = { status_code: 503, body: 'No tunnel of this backend is online.\n' };
const FAMILIES: Readonly<Record<string, EdgeFamily>> = {
  https_edge: 'https',
  tls_edge: 'tls',
  tcp_edge: 'tcp',
};
/** Only names that the file knows are safe to be keys of an object. */
const empty = <Value>(): Record<string, Value> => Object.create(null) as Record<string, Value>;

/** What a document is made in. */
interface Draft {
  readonly policies: Record<string, { readonly rules: unknown[] }>;
  readonly backends: Record<string, unknown>;
  readonly authorities: Record<string, unknown>;
  readonly certificates: Record<string, unknown>;
  readonly edges: Readonly<Record<EdgeFamily, Record<string, Record<string, unknown>>>>;
  readonly routes: Record<string, unknown[]>;
  readonly routeIds: Record<string, string[]>;
  readonly pointers: Map<string, string>;
  readonly hidden: { readonly family: EdgeFamily; readonly id: string }[];
  readonly vaults: Map<string, Record<string, string>>;
  readonly secrets: Record<string, Record<string, string>>;
  restriction: readonly string[] | null;
}

/** Turns objects, oldest first and what is referred to before what refers, into one configuration. */
export function edgeDocument(
  objects: readonly EdgeObject[],
  service: string,
  settings: FileSettings = {},
): EdgeDocument {
  const draft: Draft = {
    policies: {},
    backends: {},
    authorities: {},
    certificates: {},
    edges: { https: {}, tls: {}, tcp: {} },
    routes: {},
    routeIds: {},
    pointers: new Map(),
    hidden: [],
    vaults: new Map(),
    secrets: empty(),
    restriction: null,
  };
  // The certificate of a reserved domain is shown for it, whatever others hold for it too.
  for (const { kind, body } of objects) {
    if (kind === 'domain' && body['certificate_id'] !== undefined)
      draft.certificates[body['certificate_id'] as string] = null;
  }
  const streams = streamBackends(objects);
  for (const object of objects) put(draft, object, streams.nameFor);
  addAliases(draft.policies, objects);
  const { policies, backends, authorities, certificates, edges } = draft;
  const { facts, address_databases: databases } = settings;
  const value = {
    service_name: service,
    ...(facts !== undefined && { facts }),
    ...(databases !== undefined && { address_databases: databases }),
    ip_policies: policies,
    backends: { ...backends, ...streams.twins },
    certificate_authorities: authorities,
    tls_certificates: certificates,
    edges,
  };
  const { pointers, routeIds, hidden, restriction, secrets } = draft;
  return { value, pointers, routeIds, hidden, restriction, secrets };
}

/** Texts of policies may call IP policies by the names that they have in an edge file. */
function addAliases(policies: Draft['policies'], objects: readonly EdgeObject[]): void {
  const named = objects.filter(({ kind, body }) => kind === 'ip_policy' && body[NAME_KEY] !== undefined);
  if (named.length === 0) return;
  const texts = objects.flatMap(
    ({ body }) => (body['traffic_policy'] as { value: string } | undefined)?.value ?? [],
  );
  for (const { id, body } of named) {
    const name = String(body[NAME_KEY]);
    if (policies[name] === undefined && texts.some((text) => text.includes(name)))
      policies[name] = policies[id]!;
  }
}

/** Puts one object where it belongs. */
function put(draft: Draft, { id, kind, parent, body }: EdgeObject, forStreams: (id: string) => string): void {
  switch (kind) {
    case 'ip_policy':
      draft.policies[id] = { rules: [] };
      return;
    case 'ip_policy_rule': {
      const { rules } = draft.policies[parent!]!;
      draft.pointers.set(id, `/ip_policies/${parent!}/rules/${rules.length}`);
      rules.push({ cidr: body['cidr'], action: body['action'] });
      return;
    }
    case 'https_edge_route': {
      const routes = draft.routes[parent!]!;
      draft.pointers.set(id, `/edges/https/${parent!}/routes/${routes.length}`);
      routes.push(routeOf(body));
      draft.routeIds[parent!]!.push(id);
      return;
    }
    case 'certificate_authority':
      draft.authorities[id] = { ca_pem: body['ca_pem'] };
      draft.pointers.set(id, `/certificate_authorities/${id}`);
      return;
    case 'tls_certificate':
      draft.certificates[id] = {
        certificate_pem: body['certificate_pem'],
        private_key_pem: body['private_key_pem'],
      };
      draft.pointers.set(id, `/tls_certificates/${id}`);
      return;
    case 'ip_restriction':
      if (body['type'] === 'endpoints' && body['enforced'] === true)
        draft.restriction = body['ip_policy_ids'] as readonly string[];
      return;
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
  if (FAMILIES[kind] !== undefined) placeEdge(draft, FAMILIES[kind], id, body, forStreams);
  else if (kind.endsWith('_backend')) {
    draft.backends[id] = backendOf(kind, body);
    draft.pointers.set(id, `/backends/${id}`);
  }
}

function placeEdge(
  draft: Draft,
  family: EdgeFamily,
  id: string,
  body: Body,
  forStreams: (id: string) => string,
): void {
  const hostports = (body['hostports'] ?? []) as readonly string[];
  if (hostports.length === 0) draft.hidden.push({ family, id });
  draft.pointers.set(id, `/edges/${family}/${id}`);
  const edge: Record<string, unknown> = {
    hostports: hostports.length === 0 ? [`${id.replaceAll('_', '-')}.invalid:443`] : hostports,
  };
  draft.edges[family][id] = edge;
  for (const name of ['tls_termination', 'mutual_tls', 'ip_restriction', 'traffic_policy']) {
    if (body[name] !== undefined) edge[name] = body[name];
  }
  const more = body[MORE_KEY] as Body | undefined;
  if (more?.['redirect_http'] === true && edge['tls_termination'] !== undefined)
    edge['tls_termination'] = { ...(edge['tls_termination'] as Body), redirect_http: true };
  if (family === 'https') {
    draft.routeIds[id] = [];
    edge['routes'] = draft.routes[id] = [];
    return;
  }
  const backend = body['backend'] as Body | undefined;
  if (backend !== undefined)
    edge['backend'] = { ...backend, backend_id: forStreams(String(backend['backend_id'])) };
}

/** A backend in the form of the edge file. */
function backendOf(kind: string, body: Body): Body {
  const more = body[MORE_KEY] as Body | undefined;
  switch (kind) {
    case 'static_backend':
      return { static: { address: body['address'], tls: body['tls'], ...more } };
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

const MODULE_NAMES = Object.keys(ROUTE_MODULES);

/** A route in the form of the edge file. */
function routeOf(body: Body): Body {
  const route: Record<string, unknown> = { match_type: body['match_type'], match: body['match'] };
  for (const name of MODULE_NAMES) if (body[name] !== undefined) route[name] = body[name];
  return route;
}

/** What may be served of a checked configuration: nothing of edges without a hostport. */
export function servedConfig(checked: EdgeConfig, document: EdgeDocument): EdgeConfig {
  const { hidden, restriction } = document;
  const named = withRouteIds(checked, document);
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

/** Gives the routes their ids, which are part of the addresses that identity providers know. */
function withRouteIds(config: EdgeConfig, { routeIds }: EdgeDocument): EdgeConfig {
  const https = Object.entries(config.edges.https).map(([id, edge]) => {
    const routes = edge.routes.map((route, index): RouteConfig => ({ ...route, id: routeIds[id]![index]! }));
    return [id, Object.assign({}, edge, { routes })] as const;
  });
  return { ...config, edges: { ...config.edges, https: Object.fromEntries(https) } };
}

/** Where in the request's object a finding about the configuration is. */
export function pointerInObject(
  pointer: string,
  { id, kind }: EdgeObject,
  document: EdgeDocument,
): string | null {
  const place = document.pointers.get(id);
  if (place === undefined || (pointer !== place && !pointer.startsWith(`${place}/`))) return null;
  const below = pointer.slice(place.length);
  if (!kind.endsWith('_backend')) return below;
  return kind === 'weighted_backend' || kind === 'failover_backend'
    ? below.replace(/^\/(?:weighted|failover)/, '/backends')
    : below.replace(/^\/(?:static|http_response)/, '');
}
