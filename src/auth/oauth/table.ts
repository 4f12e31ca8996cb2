/** Endpoints and characteristics of an OAuth 2.0 provider, as data. */
export interface OauthPreset {
  /** Display name. */
  readonly label: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Requested if the configuration contains no scopes. */
  readonly scopes: readonly string[];
  /** Whether the provider documents PKCE with S256 (RFC 7636) for apps with a secret. */
  readonly pkce: boolean;
  /** Further parameters of the authorization URL, mostly for getting a refresh token. */
  readonly parameters: Readonly<Record<string, string>>;
  /** `iss` of its authorization responses (RFC 9207); null if it sends none. */
  readonly issuer: string | null;
  readonly user: UserShape;
}

/** Paths into the provider's user response; a dot enters a member, and `[0]` is the first element of a list. */
export interface UserShape {
  readonly url: string;
  readonly id: string;
  /** The first non-empty value is used. */
  readonly names: readonly string[];
  /** Null if the address is requested separately. */
  readonly email: string | null;
  /**
   * Why the address is verified: `claim` must be true in the response; `provider` reports only verified
   * addresses; `sign_in` is the sign-in name, under a domain whose ownership the tenant has proved.
   */
  readonly verified: { readonly claim: string } | 'provider' | 'sign_in';
  /** Headers besides `Authorization`; `client-id` is replaced by the app's id. */
  readonly headers: Readonly<Record<string, string>>;
}

const OPENID_USER = {
  id: 'sub',
  names: ['name', 'nickname', 'preferred_username'],
  email: 'email',
  verified: { claim: 'email_verified' },
  headers: {},
} as const;

// table: the eight providers, by the name of their member in the configuration
export const OAUTH_PRESETS = {
  github: {
    label: 'GitHub',
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    scopes: ['read:org', 'read:user', 'user:email'],
    pkce: true,
    parameters: {},
    issuer: null,
    user: {
      url: 'https://api.github.com/user',
      id: 'id',
      names: ['name', 'login'],
      email: null,
      verified: 'provider',
      headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    },
  },
  facebook: {
    label: 'Facebook',
    authorizeUrl: 'https://www.facebook.com/v21.0/dialog/oauth',
    tokenUrl: 'https://graph.facebook.com/v21.0/oauth/access_token',
    scopes: ['email'],
    pkce: false,
    parameters: {},
    issuer: null,
    user: {
      url: 'https://graph.facebook.com/v21.0/me?fields=id,name,email',
      id: 'id',
      names: ['name'],
      email: 'email',
      verified: 'provider',
      headers: {},
    },
  },
  microsoft: {
    label: 'Microsoft',
    authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    scopes: ['User.Read', 'offline_access'],
    pkce: true,
    parameters: {},
    issuer: null,
    user: {
      url: 'https://graph.microsoft.com/v1.0/me',
      id: 'id',
      names: ['displayName', 'userPrincipalName'],
      // Never `mail`: administrators of any tenant can set it to any value.
      email: 'userPrincipalName',
      verified: 'sign_in',
      headers: {},
    },
  },
  google: {
    label: 'Google',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scopes: [
      'https://www.googleapis.com/auth/userinfo.email',
      'https://www.googleapis.com/auth/userinfo.profile',
    ],
    pkce: true,
    parameters: { access_type: 'offline' },
    issuer: 'https://accounts.google.com',
    user: { url: 'https://www.googleapis.com/oauth2/v3/userinfo', ...OPENID_USER },
  },
  linkedin: {
    label: 'LinkedIn',
    authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
    tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
    scopes: ['openid', 'profile', 'email'],
    pkce: false,
    parameters: {},
    issuer: null,
    user: { url: 'https://api.linkedin.com/v2/userinfo', ...OPENID_USER },
  },
  gitlab: {
    label: 'GitLab',
    authorizeUrl: 'https://gitlab.com/oauth/authorize',
    tokenUrl: 'https://gitlab.com/oauth/token',
    scopes: ['openid', 'email', 'profile'],
    pkce: true,
    parameters: {},
    issuer: null,
    user: { url: 'https://gitlab.com/oauth/userinfo', ...OPENID_USER },
  },
  twitch: {
    label: 'Twitch',
    authorizeUrl: 'https://id.twitch.tv/oauth2/authorize',
    tokenUrl: 'https://id.twitch.tv/oauth2/token',
    scopes: ['user:read:email'],
    pkce: false,
    parameters: {},
    issuer: null,
    user: {
      url: 'https://api.twitch.tv/helix/users',
      id: 'data[0].id',
      names: ['data[0].display_name', 'data[0].login'],
      email: 'data[0].email',
      verified: 'provider',
      headers: { 'client-id': 'client-id' },
    },
  },
  amazon: {
    label: 'Amazon',
    authorizeUrl: 'https://www.amazon.com/ap/oa',
    tokenUrl: 'https://api.amazon.com/auth/o2/token',
    scopes: ['profile'],
    pkce: true,
    parameters: {},
    issuer: null,
    user: {
      url: 'https://api.amazon.com/user/profile',
      id: 'user_id',
      names: ['name'],
      email: 'email',
      verified: 'provider',
      headers: {},
    },
  },
} as const satisfies Readonly<Record<string, OauthPreset>>;

export type OauthProviderName = keyof typeof OAUTH_PRESETS;

/** Further URLs of GitHub's API. */
export const GITHUB_EMAILS_URL = 'https://api.github.com/user/emails';
export const GITHUB_TEAMS_URL = 'https://api.github.com/user/teams';
export const GITHUB_ORGANIZATIONS_URL = 'https://api.github.com/user/orgs';

/** User response of LinkedIn's older API, for apps that have its older scopes. */
export const LINKEDIN_OLDER_USER: UserShape = {
  url: 'https://api.linkedin.com/v2/me',
  id: 'id',
  names: ['localizedFirstName'],
  email: null,
  verified: 'provider',
  headers: {},
};
export const LINKEDIN_OLDER_EMAIL_URL =
  'https://api.linkedin.com/v2/emailAddress?q=members&projection=(elements*(handle~))';
