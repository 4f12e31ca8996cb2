import type { Identity } from './identities.ts';
import { openidClaims } from './tokens.ts';

/** A response of a provider's API: a value, and whether there is another page. */
export interface ApiPage {
  readonly value: unknown;
  readonly more: boolean;
}

/** The API responses of the eight providers about a user, in their own shapes, by host and path. */
const APIS: Readonly<
  Record<string, (identity: Identity, page: (rows: readonly unknown[]) => ApiPage) => ApiPage>
> = {
  'api.github.com/user': ({ id, key, name }) => whole({ id: numberOf(id), login: key, name, email: null }),
  'api.github.com/user/emails': ({ email, emailVerified, misbehave }, page) =>
    page(
      misbehave === 'no_email' ? [] : [{ email, verified: emailVerified, primary: true, visibility: null }],
    ),
  'api.github.com/user/orgs': ({ organizations }, page) => page(organizations.map((login) => ({ login }))),
  'api.github.com/user/teams': ({ teams }, page) =>
    page(
      teams.map((team) => {
        const [login = '', slug = ''] = team.split('/');
        return { slug, name: slug, organization: { login } };
      }),
    ),
  'graph.facebook.com/v21.0/me': (identity) =>
    whole({ id: identity.id, name: identity.name, ...mailOf(identity) }),
  'graph.microsoft.com/v1.0/me': ({ id, name, email, emailVerified }) =>
    whole({
      id,
      displayName: name,
      mail: email,
      // A guest, whose address the tenant has not verified.
      userPrincipalName: emailVerified ? email : `${email.replace('@', '_')}#EXT#@tenant.example`,
    }),
  'www.googleapis.com/oauth2/v3/userinfo': (identity) => whole(openidClaims(identity)),
  'api.linkedin.com/v2/userinfo': (identity) => whole(openidClaims(identity)),
  'api.linkedin.com/v2/me': ({ id, name }) => whole({ id, localizedFirstName: name, localizedLastName: '' }),
  'api.linkedin.com/v2/emailAddress': (identity) =>
    whole({
      elements: 'email' in mailOf(identity) ? [{ 'handle~': { emailAddress: identity.email } }] : [],
    }),
  'gitlab.com/oauth/userinfo': (identity) => whole(openidClaims(identity)),
  'api.twitch.tv/helix/users': (identity) =>
    whole({
      data: [{ id: identity.id, login: identity.key, display_name: identity.name, ...mailOf(identity) }],
    }),
  'api.amazon.com/user/profile': (identity) =>
    whole({ user_id: identity.id, name: identity.name, ...mailOf(identity) }),
};

/**
 * Token endpoints of the providers, by host and path; any other GET that is not an API call opens the login
 * page.
 */
export const TOKEN_PATHS: ReadonlySet<string> = new Set([
  'github.com/login/oauth/access_token',
  'graph.facebook.com/v21.0/oauth/access_token',
  'login.microsoftonline.com/common/oauth2/v2.0/token',
  'oauth2.googleapis.com/token',
  'www.linkedin.com/oauth/v2/accessToken',
  'gitlab.com/oauth/token',
  'id.twitch.tv/oauth2/token',
  'api.amazon.com/auth/o2/token',
]);

/** Login pages of the providers, with the provider's name. */
export const AUTHORIZE_PATHS: ReadonlyMap<string, string> = new Map([
  ['github.com/login/oauth/authorize', 'GitHub'],
  ['www.facebook.com/v21.0/dialog/oauth', 'Facebook'],
  ['login.microsoftonline.com/common/oauth2/v2.0/authorize', 'Microsoft'],
  ['accounts.google.com/o/oauth2/v2/auth', 'Google'],
  ['www.linkedin.com/oauth/v2/authorization', 'LinkedIn'],
  ['gitlab.com/oauth/authorize', 'GitLab'],
  ['id.twitch.tv/oauth2/authorize', 'Twitch'],
  ['www.amazon.com/ap/oa', 'Amazon'],
]);

/** Whether a host and path is a provider's API. */
export function isApi(place: string): boolean {
  return Object.hasOwn(APIS, place);
}

/** The API response about a user; `query` has the page. */
export function apiAnswer(place: string, identity: Identity, query: URLSearchParams): ApiPage {
  const size = Math.min(Number(query.get('per_page') ?? 30) || 30, 100);
  const at = Math.max(Number(query.get('page') ?? 1) || 1, 1);
  const page = (rows: readonly unknown[]): ApiPage => ({
    value: rows.slice((at - 1) * size, at * size),
    more: rows.length > at * size,
  });
  return APIS[place]!(identity, page);
}

function whole(value: unknown): ApiPage {
  return { value, more: false };
}

/** Providers of this kind do not return unverified addresses. */
function mailOf({ email, emailVerified, misbehave }: Identity): { email?: string } {
  return emailVerified && misbehave !== 'no_email' ? { email } : {};
}

/** GitHub ids are numbers: derived from the name, the same each time. */
function numberOf(id: string): number {
  if (/^\d{1,15}$/.test(id)) return Number(id);
  let hash = 0x811c9dc5;
  for (const char of id) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  return hash >>> 0;
}
