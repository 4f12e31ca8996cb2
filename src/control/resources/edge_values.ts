import { weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { Body } from './contract.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { ROUTE_FIELDS } from './module_fields.ts';

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

const MODULE_NAMES = Object.keys(ROUTE_FIELDS);

/** A route in the form of the edge file. */
export const routeOf = weakMemoize((body: Body): Body => {
  const route: Record<string, unknown> = { match_type: body['match_type'], match: body['match'] };
  for (const name of MODULE_NAMES) if (body[name] !== undefined) route[name] = body[name];
  return route;
});
