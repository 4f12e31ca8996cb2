import { weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { Body } from './contract.ts';
import { ROUTE_MODULES } from './module_fields.ts';

/**
 * Settings of the edge file that requests cannot express are stored under this key, which responses do not
 * show.
 */
export const MORE_KEY = 'edge_file_more';

const TUNNELS_OFFLINE = { status_code: 503, body: 'No tunnel of this backend is online.\n' };

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
  for (const name of ['tls_termination', 'mutual_tls', 'ip_restriction', 'traffic_policy', 'backend']) {
    if (body[name] !== undefined) edge[name] = body[name];
  }
  const more = body[MORE_KEY] as Body | undefined;
  if (more?.['redirect_http'] === true && edge['tls_termination'] !== undefined)
    edge['tls_termination'] = { ...(edge['tls_termination'] as Body), redirect_http: true };
  return edge;
});

export const authorityOf = weakMemoize((body: Body): Body => ({ ca_pem: body['ca_pem'] }));

export const certificateOf = weakMemoize((body: Body): Body => ({
  certificate_pem: body['certificate_pem'],
  private_key_pem: body['private_key_pem'],
}));

/** A backend in the form of the edge file. */
export const backendOf = weakMemoizeLast((body: Body, [kind]: readonly [string]): Body => {
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
    // Sessions are not available yet, so no tunnel matches.
    default:
      return { http_response: TUNNELS_OFFLINE };
  }
});

const MODULE_NAMES = Object.keys(ROUTE_MODULES);

/** A route in the form of the edge file. */
export const routeOf = weakMemoize((body: Body): Body => {
  const route: Record<string, unknown> = { match_type: body['match_type'], match: body['match'] };
  for (const name of MODULE_NAMES) if (body[name] !== undefined) route[name] = body[name];
  return route;
});
