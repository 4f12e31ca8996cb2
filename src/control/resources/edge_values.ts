import type { Body } from './contract.ts';
import { MODULE_FACTS } from '../../filters/table.ts';
import { ROUTE_FIELDS } from './module_fields.ts';

/**
 * Settings of the edge file that requests cannot express are stored under this key, which responses do not
 * show.
 */
export const MORE_KEY = 'edge_file_more';

const TUNNELS_OFFLINE = { status_code: 503, body: 'No tunnel of this backend is online.\n' };

/** An edge in the form of the edge file, without its routes. */
export function edgeOf(id: string, body: Body, hostports: readonly string[]): Body {
  const edge: Record<string, unknown> = {
    hostports: hostports.length === 0 ? [`${id.replaceAll('_', '-')}.invalid:443`] : hostports,
  };
  for (const name of MODULE_FACTS.keys()) if (body[name] !== undefined) edge[name] = body[name];
  Object.assign(edge, withFileOnly(body, edge));
  return edge;
}

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

/**
 * Values of the file, by the body that they were built from: unchanged bodies give the same object, so that
 * caches by identity work.
 */
const made = new WeakMap<Body, Body>();

export function madeOf(body: Body, make: (body: Body) => Body): Body {
  let value = made.get(body);
  if (value === undefined) made.set(body, (value = make(body)));
  return value;
}

export const authorityOf = (body: Body): Body => ({ ca_pem: body['ca_pem'] });

export const certificateOf = (body: Body): Body => ({
  certificate_pem: body['certificate_pem'],
  private_key_pem: body['private_key_pem'],
});

/** A backend in the form of the edge file. */
export function backendOf(kind: string, body: Body): Body {
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
}

const MODULE_NAMES = Object.keys(ROUTE_FIELDS);

/** A route in the form of the edge file. */
export function routeOf(body: Body): Body {
  const route: Record<string, unknown> = { match_type: body['match_type'], match: body['match'] };
  for (const name of MODULE_NAMES) if (body[name] !== undefined) route[name] = body[name];
  return route;
}
