import type { LocalResponse } from '../engine/questions.ts';
import type { RequestHead, World } from '../engine/contract.ts';
import type { Conversation } from './conversation.ts';
import type { LoginTokens, LoginUser } from './identity.ts';
import type { LoginMemory } from './memory.ts';
import type { LoginState } from './login_state.ts';
import type { LoginReason } from './reasons.ts';
import type { LoginRegistry } from './registry.ts';
import type { Session } from './session.ts';

/** Addresses of the gate as seen by the browser. */
export interface LoginSite {
  /** `https://app.example.test`, without a path. */
  readonly origin: string;
  /** Reserved path prefix of the gate; begins and ends with a slash. */
  readonly base: string;
  /** URL to which the provider redirects the browser. */
  readonly callbackUrl: string;
}

/** Context of a provider's conversations. */
export interface LoginContext {
  readonly site: LoginSite;
  readonly request: RequestHead;
  readonly memory: LoginMemory;
  readonly registry: LoginRegistry;
  readonly world: World;
}

/** Why a login, check or callback failed; shown on the page and in the trace. */
export interface LoginRefusal {
  readonly refused: Extract<
    LoginReason,
    | 'callback_refused'
    | 'denied'
    | 'identity_refused'
    | 'not_authorized'
    | 'provider_failed'
    | 'session_too_long'
  >;
  /** Title of the page, if not that of the reason. */
  readonly title?: string;
  /** One sentence without secrets, for the page and the trace. */
  readonly message: string;
  /** Facts for the trace only. */
  readonly detail?: Readonly<Record<string, string>>;
}

export function isRefusal(answer: object): answer is LoginRefusal {
  return 'refused' in answer;
}

/** A user identified by the provider and authorized. */
export interface LoggedIn {
  readonly user: LoginUser;
  readonly providerSession: string | null;
  readonly tokens: LoginTokens | null;
  /** When the session ends according to the provider; if absent, the gate's limits apply alone. */
  readonly untilMs?: number | null;
  /** Return path of a login started by the provider; otherwise the pending login has it. */
  readonly returnTo?: string;
}

/** The redirect to the provider, or a page with a form that submits itself (POST binding). */
export type LoginStart = { readonly location: string } | { readonly response: LocalResponse } | LoginRefusal;

/**
 * A login protocol, configured for one provider: OAuth, OpenID Connect or SAML. The gate handles cookies,
 * states, times, pages and revocation.
 */
export interface IdentityProvider {
  /**
   * Type and name, such as `oauth github`. Part of every session, so that sessions of different providers are
   * not mixed up.
   */
  readonly id: string;
  /** Display name: `GitHub`. */
  readonly label: string;
  /** Value of `oauth.app_client_id` in events; empty if the protocol has none. */
  readonly clientId: string;
  /** Digest of the authorization lists (`listsDigest`); empty if there are none. */
  readonly lists: string;
  /** Callback path relative to the gate's base: `callback`, `saml/acs`. */
  readonly callback: string;
  /** `post`: the callback is a form posted by another site, so the nonce cookie needs `SameSite=None`. */
  readonly callbackBy: 'get' | 'post';
  /** Name of the callback parameter (query or form) that contains the sealed state. */
  readonly stateField: string;
  /**
   * The parameter is too short for a sealed state (80 bytes, SAML Bindings §3.4.3): it contains a handle, and
   * the state is stored in a cookie.
   */
  readonly shortState?: true;
  /** Starts a login; the provider returns `state` in `stateField`. */
  readonly begin: (
    loginState: LoginState,
    state: string,
    context: LoginContext,
  ) => Conversation<LoginStart> | LoginStart;
  /**
   * Processes a callback. `fields` is its query or form. `pending` is its pending login, already marked as
   * used; null only if `unsolicited` allows the provider to start a login.
   */
  readonly finish: (
    fields: URLSearchParams,
    loginState: LoginState | null,
    context: LoginContext,
  ) => Conversation<LoggedIn | LoginRefusal> | LoggedIn | LoginRefusal;
  /** Whether a callback without a pending login is allowed (IdP-initiated SAML); by default it is not. */
  readonly unsolicited?: (fields: URLSearchParams) => boolean;
  /** Asks the provider whether the session is still valid; absent if the protocol has no such check. */
  readonly check?: (session: Session, context: LoginContext) => Conversation<LoggedIn | LoginRefusal>;
  /** URL that ends the session at the provider, or null; called after the local session has ended. */
  readonly logout?: (session: Session, context: LoginContext) => Conversation<string | null> | string | null;
  /** Further reserved paths below the gate's base: metadata, back-channel logout. Null: not found. */
  readonly other?: (path: string, context: LoginContext) => Conversation<Answered> | Answered | null;
}

/** The reply of a further reserved path. */
export interface Answered {
  readonly reason: LoginReason;
  readonly detail: Readonly<Record<string, string>>;
  readonly response: LocalResponse;
  /** Whether the browser's session ends, too. */
  readonly endsSession?: true;
}
