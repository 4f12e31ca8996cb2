import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import { refTo } from '../resources/present.ts';
import { wholeSeconds } from './change.ts';
import type { ApiRequest } from './contract.ts';
import { envelope } from './list.ts';
import type { Shown } from './objects.ts';
import { type PageQuery, pageQuery } from './request.ts';
import type { Route } from './route.ts';

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
}

/** The logins known to the edge. Revocations are stored and survive restarts. */
export interface Logins {
  readonly users: () => readonly ApplicationUser[];
  readonly sessions: () => readonly ApplicationSession[];
  readonly endUser: (id: string) => Promise<void>;
  readonly endSession: (id: string) => Promise<void>;
}

/** No logins. */
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
      {
        method: 'GET',
        path,
        status: 200,
        body: 'none',
        about: { title, operation: 'list' },
        handle: ({ base }, _ids, _raw, url) => page(kind, base, pageQuery(url, kind.prefix)),
      },
      {
        method: 'GET',
        path: one,
        status: 200,
        body: 'none',
        about: { title, operation: 'get' },
        handle: (asking, ids) => found(kind, asking, ids['id']!),
      },
      {
        method: 'DELETE',
        path: one,
        status: 204,
        body: 'none',
        about: { title, operation: 'delete' },
        handle: async (asking, ids) => {
          await kind.end(found(kind, asking, ids['id']!).id);
        },
      },
    ];
  });
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

/** The page after an id; ids are not ordered by time here. */
function page({ all, path, listKey }: Kind, base: string, { limit, beforeId }: PageQuery): Shown {
  const rows = all(base);
  const start = beforeId === undefined ? 0 : rows.findIndex(({ id }) => id === beforeId) + 1;
  const shown = rows.slice(start, start + limit);
  const last = shown.at(-1);
  const hasMore = last !== undefined && rows.length > start + limit;
  const uri = base + path;
  return envelope(listKey, shown, uri, hasMore ? `${uri}?before_id=${last.id}&limit=${limit}` : null);
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
  const { id, userId, publicUrl, userAgent, clientIp, createdMs, lastActiveMs, expiresMs, route } = session;
  const { path } = resourceOfKind('https_edge');
  const edge = route === null ? null : refTo(route.edge, base);
  return {
    application_user: { id: userId, uri: `${base}${USERS}/${userId}` },
    // The user agent is not parsed, and addresses are not located.
    browser_session: { ip_address: clientIp, location: null, user_agent: { raw: userAgent } },
    created_at: wholeSeconds(createdMs),
    edge,
    endpoint: null,
    expires_at: expiresMs === null ? null : wholeSeconds(expiresMs),
    id,
    last_active: wholeSeconds(lastActiveMs),
    public_url: publicUrl,
    route: route && { id: route.id, uri: `${base}${path}/${route.edge}/routes/${route.id}` },
    uri: `${base}${SESSIONS}/${id}`,
  };
}
