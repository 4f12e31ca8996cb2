import {
  type ApplicationSession,
  type Logins,
  SESSION_PREFIX,
  USER_PREFIX,
} from './api/application_logins.ts';
import { digest } from '../crypto/digest.ts';
import type { RouteConfig } from '../edge/document/schema.ts';
import type { EdgeRuntime } from '../edge/runtime.ts';
import { parseSocketAddress } from '../net/address.ts';
import type { LoginEnds } from './login_ends.ts';

type Kind = 'user' | 'session';

/** Users and sessions of the edge for the management API. */
export function loginsOf(runtime: EdgeRuntime, ends: LoginEnds, nowMs: () => number): Logins {
  const { logins } = runtime;
  const ended = async (of: Kind, shown: string): Promise<void> => {
    const rows: readonly { readonly id: string }[] = of === 'user' ? logins.users() : logins.sessions();
    const row = rows.find(({ id }) => shownId(of, id) === shown);
    if (row === undefined) return;
    if (of === 'user') logins.revokeUser(row.id, nowMs());
    else logins.revokeSession(row.id, nowMs());
    // Acknowledged revocations survive a restart.
    await ends.kept();
  };
  return {
    users: () => logins.users().map((user) => Object.assign({}, user, { id: shownId('user', user.id) })),
    sessions: () =>
      logins.sessions().map((session) =>
        Object.assign({}, session, {
          id: shownId('session', session.id),
          userId: shownId('user', session.userId),
          route: routeOf(runtime, session.gate),
          location: locationOf(runtime, session.clientIp),
        }),
      ),
    endUser: (id) => ended('user', id),
    endSession: (id) => ended('session', id),
  };
}

const SHOWN_LENGTH = 27;

/** An id in the format of the API: lower-case letters and digits, not usable as a session. */
function shownId(of: Kind, id: string): string {
  const prefix = of === 'user' ? USER_PREFIX : SESSION_PREFIX;
  return `${prefix}_${digest('sha256', [id], 'hex').slice(0, SHOWN_LENGTH)}`;
}

/** The route of a gate, whose name consists of its edge and the match of the route. */
function routeOf(runtime: EdgeRuntime, gate: string): ApplicationSession['route'] {
  for (const [edge, { routes }] of Object.entries(runtime.current().config.edges.https)) {
    for (const { id, match_type: type, match } of routes as readonly RouteConfig[]) {
      if (id !== undefined && gate === `${edge} ${type} ${match}`) return { id, edge };
    }
  }
  return null;
}

/** The place of an address by the facts and databases of the edge; missing numbers are 0. */
function locationOf(runtime: EdgeRuntime, text: string): ApplicationSession['location'] {
  const address = parseSocketAddress(text);
  const place = address === null ? undefined : runtime.current().facts.client(address)?.geo?.location;
  if (place === undefined) return null;
  const { country_code: country = '', latitude, longitude, radius } = place;
  return {
    country_code: country,
    latitude: Number(latitude ?? 0),
    longitude: Number(longitude ?? 0),
    lat_long_radius_km: Math.round(Number(radius ?? 0)),
  };
}
