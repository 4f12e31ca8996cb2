import { ApiProblem, COMMON } from '../resources/problem.ts';
import { resourceOfKind } from '../resources/table.ts';
import { refTo } from '../resources/present.ts';
import { wholeSeconds } from '../../events/timestamps.ts';
import { type UserAgent, parseUserAgent } from '../../policy/env/user_agent.ts';
import type { Shown } from './contract.ts';
import { listRows } from './list.ts';
import { pageQuery } from './request.ts';
import { type Route, route } from './route.ts';
import { indexInTurns } from './turns.ts';

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

/** Logins of a kind. What is shown of one is put together when it is shown, because that takes time. */
interface LoginsOfKind<Row, Whole> {
  /** Newest first. */
  readonly all: () => readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly whole: (row: Row) => Whole;
  readonly end: (row: Row) => Promise<void>;
}

/** The logins known to the edge. Revocations are stored and survive restarts. */
export interface Logins<User, Session> {
  readonly users: LoginsOfKind<User, ApplicationUser>;
  readonly sessions: LoginsOfKind<Session, ApplicationSession>;
}

export const USER_PREFIX = 'au';
export const SESSION_PREFIX = 'as';

const USERS = '/app/users';
const SESSIONS = '/app/sessions';

interface Kind<Row, Whole> {
  readonly title: string;
  readonly path: string;
  readonly listKey: string;
  readonly prefix: string;
  readonly logins: LoginsOfKind<Row, Whole>;
  readonly show: (whole: Whole, base: string) => Shown;
}

/** GET, list and DELETE of application users and sessions. */
export function loginRoutes<User, Session>({ users, sessions }: Logins<User, Session>): Route[] {
  return [
    ...routesOfKind({
      title: 'application user',
      path: USERS,
      listKey: 'application_users',
      prefix: USER_PREFIX,
      logins: users,
      show: shownUser,
    }),
    ...routesOfKind({
      title: 'application session',
      path: SESSIONS,
      listKey: 'application_sessions',
      prefix: SESSION_PREFIX,
      logins: sessions,
      show: shownSession,
    }),
  ];
}

function routesOfKind<Row, Whole>(kind: Kind<Row, Whole>): Route[] {
  const { title, path, listKey, prefix, logins, show } = kind;
  const { idOf, whole } = logins;
  const one = `${path}/{id}`;
  return [
    route('list', path, { title }, ({ base, isAbandoned }, _ids, _raw, url) => {
      const shown = (row: Row) => show(whole(row), base);
      // These ids do not say when a login was created.
      const order = { rows: logins.all(), idOf, isInOrder: false };
      const list = { key: listKey, uri: base + path, title, ...order, show: shown };
      return listRows(list, pageQuery(url, prefix), isAbandoned);
    }),
    route('get', one, { title }, async ({ base }, ids) => show(whole(await found(kind, ids['id']!)), base)),
    route('delete', one, { title }, async (_asking, ids) => logins.end(await found(kind, ids['id']!))),
  ];
}

async function found<Row, Whole>({ logins, title }: Kind<Row, Whole>, id: string): Promise<Row> {
  const rows = logins.all();
  const row = rows[await indexInTurns(rows, (each) => logins.idOf(each) === id)];
  if (row === undefined) throw new ApiProblem(404, COMMON.notFound, `The ${title} '${id}' does not exist.`);
  return row;
}

function shownUser(user: ApplicationUser, base: string): Shown {
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

function shownSession(session: ApplicationSession, base: string): Shown {
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
