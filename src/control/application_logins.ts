import {
  type ApplicationSession,
  type Logins,
  SESSION_PREFIX,
  USER_PREFIX,
} from './api/application_logins.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';
import type { SeenSession, SeenUser } from '../auth/registry.ts';
import { digest } from '../crypto/digest.ts';
import type { RouteConfig } from '../edge/document/schema.ts';
import type { EdgeRuntime } from '../edge/runtime.ts';
import { parseSocketAddress } from '../net/address.ts';
import type { LoginEnds } from './login_ends.ts';

type Kind = 'user' | 'session';

/** Users and sessions of the edge for the management API. */
export function loginsOf(
  runtime: EdgeRuntime,
  ends: LoginEnds,
  nowMs: () => number,
): Logins<SeenUser, SeenSession> {
  const { logins } = runtime;
  const userId = weakMemoize(({ id }: SeenUser) => shownId('user', id));
  const sessionId = weakMemoize(({ id }: SeenSession) => shownId('session', id));
  return {
    users: {
      all: () => newestFirst(logins.users()),
      idOf: userId,
      whole: (user) => ({ ...user, id: userId(user) }),
      end: async ({ id }) => {
        logins.revokeUser(id, nowMs());
        // Acknowledged revocations survive a restart.
        await ends.kept();
      },
    },
    sessions: {
      all: () => newestFirst(logins.sessions()),
      idOf: sessionId,
      whole: (session) => ({
        ...session,
        id: sessionId(session),
        userId: shownId('user', session.userId),
        route: routeOf(runtime, session.gate),
        location: locationOf(runtime, session.clientIp),
      }),
      end: async ({ id }) => {
        logins.revokeSession(id, nowMs());
        await ends.kept();
      },
    },
  };
}

function newestFirst<Row extends { readonly createdMs: number; readonly id: string }>(
  rows: readonly Row[],
): readonly Row[] {
  return rows.toSorted((one, other) => other.createdMs - one.createdMs || (one.id < other.id ? -1 : 1));
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
