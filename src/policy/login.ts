import type { Question } from '../engine/contract.ts';
import { timestampOf } from '../expression/time.ts';
import { EvalError } from '../expression/values.ts';
import type { ActionResult } from '../expression/vocabulary/action_results.ts';
import { admit } from '../mechanisms/login/admit.ts';
import { type Flow, isFlow } from '../mechanisms/login/flow.ts';
import type { LoginGate, LoginOutcome, LoginPass } from '../mechanisms/login/gate.ts';
import { newLoginKeys } from '../mechanisms/login/keys.ts';
import { type LoginMemory, loginMemory } from '../mechanisms/login/memory.ts';
import type { IdentityProvider } from '../mechanisms/login/provider.ts';
import { LOGIN_REASONS } from '../mechanisms/login/reasons.ts';
import { loginRegistry } from '../mechanisms/login/registry.ts';
import type { Session } from '../mechanisms/login/session.ts';
import { upstreamFields } from '../mechanisms/login/upstream_fields.ts';
import { type ActionBody, type ActionOutcome, type Compiling, stepsOf, waitFor } from './action.ts';
import { durationMs } from './actions/duration.ts';
import { type Template, textsOf } from './evaluators.ts';
import { FAILURES, Failure } from './failure.ts';
import type { PolicyLogins } from './logins.ts';
import { type Walk, addHeaders, keepResult, removeHeaders, setCookies } from './walk.ts';

/** The part of their config that all logins share (`actions/login_schema.ts`). */
export interface LoginConfig {
  readonly auth_id?: string | undefined;
  readonly max_session_duration?: string | number | undefined;
  readonly idle_session_timeout?: string | number | undefined;
  readonly userinfo_refresh_interval?: string | number | undefined;
  readonly allow_cors_preflight: boolean;
  readonly auth_cookie_domain?: string | undefined;
}

/** What a kind of login adds: its provider for one request, whose credentials may be templates. */
export interface LoginKind {
  readonly type: 'oauth' | 'openid-connect' | 'saml';
  /** Name of its result. */
  readonly result: 'oauth' | 'oidc' | 'saml';
  /** What the provider is made of, each to be evaluated for each request. */
  readonly credentials: readonly Template[];
  /** The provider for their texts, or why there is none. */
  readonly provider: (
    texts: readonly string[],
    logins: PolicyLogins,
  ) => { readonly provider: IdentityProvider; readonly givesTokens: boolean } | { readonly missing: string };
}

export const LOGIN_SAYS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LOGIN_REASONS).map(([reason, { says }]) => [reason, says]),
);

/** Credentials may be templates: gates are kept for as many of their values. */
const GATES_KEPT = 16;

/** Reserved paths of logins of policies: `/<service>/login`, `/<service>/logout` and what providers call back. */
export function loginBase(service: string): string {
  return `/${service}/`;
}

/** What a login of a policy answers itself, on all routes of its edge. */
export function loginPaths(service: string): readonly string[] {
  return POLICY_PATHS.map((path) => loginBase(service) + path);
}

const POLICY_PATHS = ['login', 'logout', 'callback', 'signed_out', 'backchannel_logout', 'saml/'] as const;

/** Makes an action that lets in users who log in: the same gate as that of a module, behind the rules of a policy. */
export function loginAction(kind: LoginKind, config: LoginConfig, compiling: Compiling): ActionBody {
  const { context, pointer } = compiling;
  const logins = context.logins ?? alone();
  const step = stepsOf(kind.type, LOGIN_SAYS, pointer);
  const memory = compiling.cell(loginMemory);
  const gates = new Map<string, LoginGate | { readonly missing: string }>();
  const gateOf = (credentials: readonly string[]): LoginGate | { readonly missing: string } => {
    const key = JSON.stringify(credentials);
    let gate = gates.get(key);
    if (gate === undefined) {
      if (gates.size === GATES_KEPT) gates.clear();
      const made = kind.provider(credentials, logins);
      gates.set(key, (gate = 'missing' in made ? made : gateFor(kind, config, compiling, logins, made)));
    }
    return gate;
  };
  return {
    run: (walk) => {
      const credentials = textsOf(kind.credentials, walk.activation);
      if (credentials instanceof Failure) return credentials;
      if (credentials.includes(''))
        return compiling.failure(FAILURES.interpolation, 'a credential of the login is empty');
      const gate = gateOf(credentials);
      if ('missing' in gate) {
        const response = context.refusal(501, null, gate.missing);
        return { does: 'end', as: 'not_run', step: step('not_run', { says: gate.missing }), response };
      }
      const settled = (outcome: LoginOutcome): ActionOutcome => settle(walk, kind, gate, outcome, step);
      const kept: LoginMemory = memory.of(walk);
      const outcome = admit(gate, walk.activation.request, walk.connection, kept, walk.world);
      return isFlow(outcome) ? conversed(outcome, settled) : settled(outcome);
    },
  };
}

function alone(): PolicyLogins {
  return { edge: '', keys: newLoginKeys(), registry: loginRegistry(), development: null };
}

function gateFor(
  { type }: LoginKind,
  config: LoginConfig,
  { context: { naming } }: Compiling,
  { edge, keys, registry }: PolicyLogins,
  { provider, givesTokens }: { readonly provider: IdentityProvider; readonly givesTokens: boolean },
): LoginGate {
  const { auth_id: id = '', auth_cookie_domain: domain } = config;
  const tag = id.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  const prefix = naming.cookiePrefix + (tag === '' ? '' : `${tag}.`);
  return {
    gate: `policy ${edge} ${id}`,
    realm: naming.service,
    provider,
    keys,
    registry,
    times: {
      inactivityMs: ms(config.idle_session_timeout),
      maximumMs: ms(config.max_session_duration),
      checkMs: ms(config.userinfo_refresh_interval),
    },
    base: loginBase(naming.service),
    loginPath: 'login',
    sessionCookie: `${prefix}session`,
    nonceCookie: `${prefix}nonce`,
    cookieDomain: domain ?? null,
    optionsPass: config.allow_cors_preflight ? 'preflight' : 'none',
    identityPrefix: naming.identity.auth,
    givesTokens,
    code: (reason) => `${type.replaceAll('-', '_')}.${reason}`,
  };
}

/** Milliseconds; 0, for none, where nothing is written. */
function ms(written: string | number | undefined): number {
  return written === undefined ? 0 : (durationMs(written) ?? 0);
}

/** Hands the questions of a flow on, one by one. */
function conversed(
  flow: Flow<LoginOutcome>,
  settled: (outcome: LoginOutcome) => ActionOutcome,
): ActionOutcome {
  const go = (turn: IteratorResult<Question, LoginOutcome>): ActionOutcome =>
    turn.done === true ? settled(turn.value) : waitFor(turn.value, (answer) => go(flow.next(answer)));
  return go(flow.next());
}

function settle(
  walk: Walk,
  kind: LoginKind,
  gate: LoginGate,
  outcome: LoginOutcome,
  step: ReturnType<typeof stepsOf>,
): ActionOutcome {
  const { reason, detail } = outcome;
  if (outcome.does === 'stop') {
    const { response } = outcome;
    const as = response.status === 302 ? 'redirected' : response.status >= 400 ? 'denied' : 'replied';
    return { does: 'end', as, step: step(reason, detail), response };
  }
  toUpstream(walk, gate, outcome);
  setCookies(walk, outcome.cookies);
  if (outcome.session !== null) keepResult(walk, kind.result, resultOf(outcome.session, outcome, kind));
  return { does: 'next', step: step(reason, detail) };
}

/** The rules after the login see what the upstream will: no identity that the client has made up. */
function toUpstream(walk: Walk, gate: LoginGate, pass: LoginPass): void {
  const { request } = walk.activation;
  const forged = request.headers.filter(
    (text, at) => at % 2 === 0 && text.toLowerCase().startsWith(gate.identityPrefix),
  );
  removeHeaders(walk, ['cookie', ...forged]);
  const fields = upstreamFields(gate, pass, request);
  if (fields.length > 0) addHeaders(walk, fields);
}

function resultOf(session: Session, { cookies }: LoginPass, { result }: LoginKind): ActionResult {
  const { id, user, providerSession, tokens, checkedMs, seenMs } = session;
  const atProvider = providerSession ?? id;
  const identity: Record<string, string> = {
    id: `${session.provider} ${user.id}`,
    email: user.email,
    name: user.name,
    provider_user_id: user.id,
    [result === 'oidc' ? 'current_session_id' : 'current_provider_session_id']: atProvider,
  };
  const expiry = tokens?.expiresMs ?? null;
  const expires = expiry === null ? null : timestampOf(Math.floor(expiry / 1_000), 0);
  return {
    identity,
    ...(tokens !== null && { access_token: tokens.access }),
    ...(tokens !== null && tokens.refresh !== null && { refresh_token: tokens.refresh }),
    ...(result === 'oidc' && tokens !== null && tokens.id !== null && { identity_token: tokens.id }),
    ...(expires !== null && !(expires instanceof EvalError) && { expires_at: expires }),
    session_timed_out: false,
    session_max_duration_reached: false,
    userinfo_refreshed: cookies.length > 0 && checkedMs === seenMs,
  };
}
