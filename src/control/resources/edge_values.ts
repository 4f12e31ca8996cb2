import { weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { Body } from './contract.ts';
import { placeOfEndpoint } from './endpoints.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { actionTypesIn } from '../../policy/document/action_types.ts';
import { ROUTE_FIELDS } from './module_fields.ts';

/**
 * Settings of the edge file that requests cannot express are stored under this key, which responses do not
 * show.
 */
export const MORE_KEY = 'edge_file_more';

/*
 * Values of the edge file, by the body of the object that they are built from: unchanged bodies give the same value, so
 * that what was compiled of it is kept.
 */

/** An edge in the form of the edge file, without its routes. */
export const edgeOf = weakMemoizeLast((body: Body, [id]: readonly [string]): Body => {
  const hostports = (body['hostports'] ?? []) as readonly string[];
  const edge: Record<string, unknown> = {
    hostports: hostports.length === 0 ? [`${id.replaceAll('_', '-')}.invalid:443`] : hostports,
  };
  for (const name of MODULE_FACTS.keys()) if (body[name] !== undefined) edge[name] = body[name];
  Object.assign(edge, withFileOnly(body, edge));
  return edge;
});

/** The modules with members that only a file has, which are stored beside the others. */
export function withFileOnly(body: Body, thing: Body): Body {
  const more = (body[MORE_KEY] ?? {}) as Body;
  const found = Array.from(MODULE_FACTS.values()).flatMap(({ type, fileOnly = [] }) => {
    const own = fileOnly.filter((member) => more[member] !== undefined);
    if (own.length === 0 || thing[type] === undefined) return [];
    const members = Object.fromEntries(own.map((member) => [member, more[member]]));
    return [[type, { ...(thing[type] as Body), ...members }]];
  });
  return Object.fromEntries(found) as Body;
}

/** The family of edges that serves endpoints of a scheme. */
export const FAMILY_OF_SCHEME = { http: 'https', https: 'https', tls: 'tls', tcp: 'tcp' } as const;

/** A cloud endpoint as an edge that has a policy, and no backend. */
export const endpointOf = weakMemoize((body: Body): Body => {
  const { scheme, host, port } = placeOfEndpoint(body);
  const family = FAMILY_OF_SCHEME[scheme];
  const policy = { traffic_policy: { value: body['traffic_policy'] } };
  const hostports = [`${host}:${port}`];
  if (family === 'tcp') return { hostports, ...policy };
  if (family === 'tls') return { hostports, ...policy, ...terminationFor(String(body['traffic_policy'])) };
  return { hostports: [`${host}:443`], routes: [{ match_type: 'path_prefix', match: '/', ...policy }] };
});

/** TLS is passed through unless the policy has the action that needs it to end here. */
function terminationFor(policy: string): Body {
  return {
    tls_termination: { terminate_at: actionTypesIn(policy).has('terminate-tls') ? 'edge' : 'upstream' },
  };
}

export const authorityOf = weakMemoize((body: Body): Body => ({ ca_pem: body['ca_pem'] }));

export const certificateOf = weakMemoize((body: Body): Body => ({
  certificate_pem: body['certificate_pem'],
  private_key_pem: body['private_key_pem'],
}));

/** The members of a static backend that requests and files have. */
export function staticBackendOf({ address, tls, protocol }: Body): Body {
  return { address, tls, ...(protocol !== undefined && { protocol }) };
}

/** A backend in the form of the edge file. */
export const backendOf = weakMemoizeLast((body: Body, [kind]: readonly [string]): Body => {
  const more = body[MORE_KEY] as Body | undefined;
  switch (kind) {
    case 'static_backend':
      return { static: { ...staticBackendOf(body), ...more } };
    case 'http_response_backend':
      return {
        http_response: { status_code: body['status_code'], headers: body['headers'], body: body['body'] },
      };
    case 'weighted_backend':
      return { weighted: body['backends'] };
    case 'failover_backend':
      return { failover: body['backends'] };
    default:
      return { tunnel_group: { labels: body['labels'] } };
  }
});

const MODULE_NAMES = Object.keys(ROUTE_FIELDS);

/** A route in the form of the edge file. */
export const routeOf = weakMemoize((body: Body): Body => {
  const route: Record<string, unknown> = { match_type: body['match_type'], match: body['match'] };
  for (const name of MODULE_NAMES) if (body[name] !== undefined) route[name] = body[name];
  return route;
});
