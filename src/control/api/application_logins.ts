import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import { refTo } from '../resources/present.ts';
import { wholeSeconds } from '../../events/timestamps.ts';
import { type UserAgent, parseUserAgent } from '../../policy/env/user_agent.ts';
import type { ApiRequest, Shown } from './contract.ts';
import { listRows } from './list.ts';
import { type PageQuery, pageQuery } from './request.ts';
import { type Route, route } from './route.ts';

/** Users and sessions of login gates: the API lists and ends them. */

interface ApplicationUser {
  readonly id: string;
  readonly provider: string;
  readonly providerUserId: string;
  readonly name: string;
  readonly email: string;
  readonly createdMs: number;
  readonly lastActiveMs: number;
  readonly lastLoginMs: number;
}

export interface ApplicationSession {
  readonly id: string;
  readonly userId: string;
  readonly publicUrl: string;
  readonly userAgent: string;
  readonly clientIp: string;
  readonly createdMs: number;
  readonly lastActiveMs: number;
  /** Null if it does not expire. */
  readonly expiresMs: number | null;
  /** The route of the session and its edge; null if they no longer exist. */
  readonly route: { readonly id: string; readonly edge: string } | null;
  /** Where the client's address is; null if no database knows it. */
  readonly location: Location | null;
}

interface Location {
  readonly country_code: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly lat_long_radius_km: number;
}

/** The logins known to the edge. Revocations are stored and survive restarts. */
export interface Logins {
  readonly users: () => readonly ApplicationUser[];
  readonly sessions: () => readonly ApplicationSession[];
  readonly endUser: (id: string) => Promise<void>;
  readonly endSession: (id: string) => Promise<void>;
}

export const NO_LOGINS: Logins = {
  users: () => [],
  sessions: () => [],
  endUser: async () => undefined,
  endSession: async () => undefined,
};

export const USER_PREFIX = 'au';
export const SESSION_PREFIX = 'as';

const USERS = '/app/users';
const SESSIONS = '/app/sessions';

interface Kind {
  readonly title: string;
  readonly path: string;
  readonly listKey: string;
  readonly prefix: string;
  /** Newest first. */
  readonly all: (base: string) => readonly (Shown & { readonly id: string })[];
  readonly end: (id: string) => Promise<void>;
}

/** GET, list and DELETE of application users and sessions. */
export function loginRoutes(logins: Logins): Route[] {
  const kinds: readonly Kind[] = [
    {
      title: 'application user',
      path: USERS,
      listKey: 'application_users',
      prefix: USER_PREFIX,
      all: (base) => newestFirst(logins.users()).map((user) => shownUser(user, base)),
      end: logins.endUser,
    },
    {
      title: 'application session',
      path: SESSIONS,
      listKey: 'application_sessions',
      prefix: SESSION_PREFIX,
      all: (base) => newestFirst(logins.sessions()).map((session) => shownSession(session, base)),
      end: logins.endSession,
    },
  ];
  return kinds.flatMap((kind): Route[] => {
    const { title, path } = kind;
    const one = `${path}/{id}`;
    return [
      route('list', path, { title }, ({ base }, _ids, _raw, url) => {
        const rows = kind.all(base);
        const place = { key: kind.listKey, uri: base + path, title };
        return listRows(rows, place, placedIn(rows, pageQuery(url, kind.prefix)));
      }),
      route('get', one, { title }, (asking, ids) => found(kind, asking, ids['id']!)),
      route('delete', one, { title }, (asking, ids) => kind.end(found(kind, asking, ids['id']!).id)),
    ];
  });
}

/**
 * A query that starts at the first page if the row before its page is gone, such as an ended session. Ids of these rows
 * do not say when they were created, so the place is unknown: rows may be listed again, but none is left out.
 */
function placedIn(rows: readonly { readonly id: string }[], query: PageQuery): PageQuery {
  const isKnown = rows.some(({ id }) => id === query.beforeId);
  return isKnown ? query : { ...query, beforeId: undefined };
}

function newestFirst<Row extends { readonly createdMs: number; readonly id: string }>(
  rows: readonly Row[],
): readonly Row[] {
  return rows.toSorted((one, other) => other.createdMs - one.createdMs || (one.id < other.id ? -1 : 1));
}

function found({ all, title }: Kind, { base }: ApiRequest, id: string): Shown & { readonly id: string } {
  const row = all(base).find((each) => each.id === id);
  if (row === undefined) throw new ApiProblem(404, COMMON.notFound, `The ${title} '${id}' does not exist.`);
  return row;
}

function shownUser(user: ApplicationUser, base: string): Shown & { readonly id: string } {
  const { id, provider, providerUserId, name, email, createdMs, lastActiveMs, lastLoginMs } = user;
  // `github`, or `oidc` and the URL of the issuer.
  const [kind = '', where = ''] = provider.split(' ', 2);
  return {
    created_at: wholeSeconds(createdMs),
    email,
    id,
    identity_provider: { name: kind, url: where },
    last_active: wholeSeconds(lastActiveMs),
    last_login: wholeSeconds(lastLoginMs),
    name,
    provider_user_id: providerUserId,
    uri: `${base}${USERS}/${id}`,
    username: '',
  };
}

function shownSession(session: ApplicationSession, base: string): Shown & { readonly id: string } {
  const { id, userId, publicUrl, userAgent, clientIp, createdMs, lastActiveMs, expiresMs } = session;
  const { path } = resourceOfKind('https_edge');
  const place = session.route;
  const edge = place === null ? null : refTo(place.edge, base);
  return {
    application_user: { id: userId, uri: `${base}${USERS}/${userId}` },
    browser_session: {
      ip_address: clientIp,
      location: session.location,
      user_agent: shownUserAgent(userAgent),
    },
    created_at: wholeSeconds(createdMs),
    edge,
    endpoint: null,
    expires_at: expiresMs === null ? null : wholeSeconds(expiresMs),
    id,
    last_active: wholeSeconds(lastActiveMs),
    public_url: publicUrl,
    route: place && { id: place.id, uri: `${base}${path}/${place.edge}/routes/${place.id}` },
    uri: `${base}${SESSIONS}/${id}`,
  };
}

function shownUserAgent(raw: string): Shown {
  const agent = parseUserAgent(raw);
  const { name, version, os, osVersion } = agent;
  return {
    browser_name: name,
    browser_version: version,
    device_type: deviceType(agent),
    os_name: os,
    os_version: osVersion,
    raw,
  };
}

/** `Desktop` is the spelling of the documentation. */
function deviceType({ isBot, isTablet, isMobile, isDesktop }: UserAgent): string {
  if (isBot) return 'Bot';
  if (isTablet) return 'Tablet';
  if (isMobile) return 'Mobile';
  return isDesktop ? 'Desktop' : '';
}
