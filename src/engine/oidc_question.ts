/** What a driver is asked of an OpenID provider. The live one does it with a certified client (`answers/oidc.ts`). */
export interface OidcQuestion {
  readonly ask: 'oidc';
  readonly client: OidcClient;
  /** Now, on the clock of the exchange: tokens are judged by it. */
  readonly nowMs: number;
  readonly request: OidcRequest;
}

/** The app as it is registered at its provider. */
export interface OidcClient {
  /** Issuer identifier; its metadata is discovered (OpenID Connect Discovery §4). */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export type OidcRequest =
  /** URL that sends the browser to the provider; PKCE with S256 of `verifier`. */
  | {
      readonly does: 'authorize';
      readonly redirectUri: string;
      readonly scope: string;
      readonly state: string;
      readonly nonce: string;
      readonly verifier: string;
      readonly parameters: Readonly<Record<string, string>>;
    }
  /** Tokens for the code in a callback; `callbackUrl` is whole, with its query. */
  | {
      readonly does: 'exchange';
      readonly callbackUrl: string;
      readonly state: string;
      readonly nonce: string;
      readonly verifier: string;
    }
  /** New tokens; requests with one refresh token at one time are one request. */
  | { readonly does: 'refresh'; readonly refreshToken: string; readonly subject: string }
  | { readonly does: 'user_info'; readonly accessToken: string; readonly subject: string }
  /** URL that ends the provider's session (RP-Initiated Logout §2), or an empty one when it has none. */
  | { readonly does: 'logout'; readonly idToken: string | null; readonly returnUrl: string }
  /** The provider's key set as it is now. */
  | { readonly does: 'keys' };

/** Why a provider gave nothing. `denied`: it said no; `invalid`: what it said cannot be trusted. */
export type OidcFailure = 'unreachable' | 'timeout' | 'discovery' | 'denied' | 'invalid';

export type OidcAnswer =
  | { readonly url: string }
  | { readonly keySet: Uint8Array }
  | { readonly tokens: OidcTokens | null; readonly userInfo: Readonly<Record<string, unknown>> | null }
  | { readonly failure: OidcFailure; readonly detail: string };

export interface OidcTokens {
  readonly access: string;
  readonly refresh: string | null;
  /** Null where a refresh gave none. */
  readonly id: {
    readonly token: string;
    readonly algorithm: string;
    /** Verified: signature, issuer, audience, nonce, times. */
    readonly claims: Readonly<Record<string, unknown>>;
  } | null;
  readonly expiresInSeconds: number | null;
}
