/** A question to an OpenID provider. The live driver uses a certified client library (`clients/oidc.ts`). */
export interface OidcQuestion {
  readonly ask: 'oidc';
  readonly client: OidcClient;
  /** The time of the exchange, which tokens are checked against. */
  readonly nowMs: number;
  readonly request: OidcRequest;
}

/** The client as registered at its provider. */
export interface OidcClient {
  /** Issuer identifier; its metadata is discovered (OpenID Connect Discovery §4). */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export type OidcRequest =
  /** URL of the provider's login page; PKCE with S256 of `verifier`. */
  | {
      readonly does: 'authorize';
      readonly redirectUri: string;
      readonly scope: string;
      readonly state: string;
      readonly nonce: string;
      readonly verifier: string;
      readonly parameters: Readonly<Record<string, string>>;
    }
  /** Tokens for the code in a callback; `callbackUrl` is complete, with its query. */
  | {
      readonly does: 'exchange';
      readonly callbackUrl: string;
      readonly state: string;
      readonly nonce: string;
      readonly verifier: string;
    }
  /** New tokens; concurrent requests with the same refresh token are sent as one. */
  | { readonly does: 'refresh'; readonly refreshToken: string; readonly subject: string }
  | { readonly does: 'user_info'; readonly accessToken: string; readonly subject: string }
  /** URL that ends the provider's session (RP-Initiated Logout §2); empty if the provider has none. */
  | { readonly does: 'logout'; readonly idToken: string | null; readonly returnUrl: string }
  /** The provider's current key set. */
  | { readonly does: 'keys' };

/** Why a provider gave no result. `denied`: it refused; `invalid`: its response cannot be trusted. */
export type OidcFailure = 'unreachable' | 'timeout' | 'discovery' | 'denied' | 'invalid';

export type OidcAnswer =
  | { readonly url: string }
  | { readonly keySet: Uint8Array }
  | { readonly tokens: OidcTokens | null; readonly userInfo: Readonly<Record<string, unknown>> | null }
  | { readonly failure: OidcFailure; readonly detail: string };

/** The answer of a driver that cannot ask providers. */
export const WITHOUT_PROVIDERS: OidcAnswer = {
  failure: 'unreachable',
  detail: 'identity providers need a driver',
};

export interface OidcTokens {
  readonly access: string;
  readonly refresh: string | null;
  /** Null if a refresh returned none. */
  readonly id: {
    readonly token: string;
    readonly algorithm: string;
    /** `typ` of the header as sent; undefined if absent. */
    readonly type: unknown;
    /** Verified: signature, issuer, audience, nonce, times. */
    readonly claims: Readonly<Record<string, unknown>>;
  } | null;
  readonly expiresInSeconds: number | null;
}
