import type { LocalResponse, RequestHead, World } from '../engine/contract.ts';
import type { Conversation } from './conversation.ts';
import type { LoginTokens, LoginUser } from './identity.ts';
import type { LoginMemory } from './memory.ts';
import type { LoginState } from './login_state.ts';
import type { LoginReason } from './reasons.ts';
import type { LoginRegistry } from './registry.ts';
import type { Session } from './session.ts';

/** Where the gate is, as the browser sees it. */
export interface LoginSite {
  /** `https://app.example.test`, without a path. */
  readonly origin: string;
  /** Path below which everything belongs to the gate; begins and ends with a slash. */
  readonly base: string;
  /** URL that the provider sends the browser back to. */
  readonly callbackUrl: string;
}

/** What a provider's flow works with. */
export interface LoginContext {
  readonly site: LoginSite;
  readonly request: RequestHead;
  readonly memory: LoginMemory;
  readonly registry: LoginRegistry;
  readonly world: World;
}

/** Why a login, a check or a callback came to nothing; a page and the trace say it. */
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
  /** One sentence without secrets: it goes to the page and the trace. */
  readonly message: string;
  /** Facts for the trace only. */
  readonly detail?: Readonly<Record<string, string>>;
}

export function isRefusal(answer: object): answer is LoginRefusal {
  return 'refused' in answer;
}

/** The user that a provider vouches for, authorized. */
export interface LoggedIn {
  readonly user: LoginUser;
  readonly providerSession: string | null;
  readonly tokens: LoginTokens | null;
  /** When the provider wants the session to end; without it the gate alone says. */
  readonly untilMs?: number | null;
  /** Where to go when the provider has started the login; else the pending login says. */
  readonly returnTo?: string;
}

/** Where the browser is sent, or a page that sends it on by itself (a form with POST). */
export type Begun = { readonly location: string } | { readonly response: LocalResponse } | LoginRefusal;

/**
 * A protocol, ready for one provider: all that a gate needs of OAuth, OpenID Connect or SAML. Cookies, states,
 * times, pages and revocation are the gate's.
 */
export interface IdentityProvider {
  /** Kind and name, such as `oauth github`: part of every session, so that one provider's is not taken for another's. */
  readonly id: string;
  /** For pages: `GitHub`. */
  readonly label: string;
  /** What the `oauth.app_client_id` of events says; empty where there is none. */
  readonly clientId: string;
  /** Digest of the lists of those who are let in (`listsDigest`); empty where there are none. */
  readonly lists: string;
  /** Path below the gate's base that the provider calls back: `callback`, `saml/acs`. */
  readonly callback: string;
  /** `post`: the callback is a form from another site, so the nonce cookie must be sent along with it. */
  readonly callbackBy: 'get' | 'post';
  /** Where the sealed state stands in the callback: a field of the query, or of the form. */
  readonly stateField: string;
  /**
   * The field has no room for a sealed state (80 bytes, SAML Bindings §3.4.3): it gets a handle, and the state waits
   * in a cookie of the browser that has begun.
   */
  readonly shortState?: true;
  /** Starts a login; `state` comes back in `stateField`. */
  readonly begin: (
    loginState: LoginState,
    state: string,
    context: LoginContext,
  ) => Conversation<Begun> | Begun;
  /**
   * Makes a user of a callback. `fields` are those of its query or form. `pending` is the login that it answers,
   * taken (it cannot come again); null only where `unsolicited` says that the provider may start one.
   */
  readonly finish: (
    fields: URLSearchParams,
    loginState: LoginState | null,
    context: LoginContext,
  ) => Conversation<LoggedIn | LoginRefusal> | LoggedIn | LoginRefusal;
  /** Whether a callback without a pending login may be finished (SAML, started at the IdP); default never. */
  readonly unsolicited?: (fields: URLSearchParams) => boolean;
  /** Asks the provider whether the user is still who they were; absent: nothing to ask. */
  readonly check?: (session: Session, context: LoginContext) => Conversation<LoggedIn | LoginRefusal>;
  /** URL at the provider that ends its own session too, or null; asked after our session has ended. */
  readonly logout?: (session: Session, context: LoginContext) => Conversation<string | null> | string | null;
  /** Further reserved paths, below the gate's base: metadata, back-channel logout. Null: there is none. */
  readonly other?: (path: string, context: LoginContext) => Conversation<Answered> | Answered | null;
}

/** What a further reserved path has answered. */
export interface Answered {
  readonly reason: LoginReason;
  readonly detail: Readonly<Record<string, string>>;
  readonly response: LocalResponse;
  /** Ends the session of this browser too. */
  readonly endsSession?: true;
}
