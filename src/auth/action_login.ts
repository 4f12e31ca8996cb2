import { formatTimestamp } from '../cel/time.ts';
import { Timestamp } from '../cel/values.ts';
import type { ActionResult } from '../policy/env/activation.ts';
import { foldedName } from '../http/forwarding.ts';
import { GATE_PATHS } from './gate_paths.ts';
import { authenticate } from './authenticate.ts';
import { concluded } from './conversation.ts';
import { type LoginGate, type LoginOutcome, type LoginPass, upstreamFields } from './gate.ts';
import { identityNames } from './identity.ts';
import { newLoginKeys } from './keys.ts';
import { type LoginMemory, loginMemory } from './memory.ts';
import type { IdentityProvider } from './provider.ts';
import { LOGIN_MESSAGES } from './reasons.ts';
import { loginRegistry } from './registry.ts';
import { type Session, type SessionTimes, idleEndOf } from './session.ts';
import { type ActionBody, type ActionOutcome, type Compiling, stepsOf } from '../filters/action.ts';
import { durationMs } from '../filters/duration.ts';
import type { ActionType } from '../filters/action_schemas.ts';
import { type Template, textsOf } from '../filters/evaluators.ts';
import { FAILURES, Failure } from '../filters/failure.ts';
import { type PolicyLogins, replacement } from './policy_logins.ts';
import { type PolicyRun, addHeaders, keepResult, removeHeaders, setCookies } from '../filters/policy_run.ts';

/** The common part of login configs (`action_login_schema.ts`). */
export interface LoginConfig {
  readonly auth_id?: string | undefined;
  readonly max_session_duration?: string | number | undefined;
  readonly idle_session_duration?: string | number | undefined;
  readonly userinfo_refresh_interval?: string | number | undefined;
  readonly allow_cors_preflight: boolean;
  readonly auth_cookie_domain?: string | undefined;
}

/** The provider-specific part of a login action; credentials may be templates. */
export interface LoginKind {
  readonly type: ActionType;
  /** Name of its result. */
  readonly result: string;
  /** Templates of the provider's credentials, evaluated for each request. */
  readonly credentials: readonly Template[];
  /** The provider for evaluated credentials, or the reason why it cannot be used. */
  readonly provider: (
    texts: readonly string[],
    logins: PolicyLogins,
  ) => { readonly provider: IdentityProvider; readonly givesTokens: boolean } | { readonly missing: string };
}

/** Credentials may be templates: gates are cached for this many of their values. */
const GATE_CACHE_SIZE = 16;

/** Reserved paths of policy logins: `/<service>/login`, `/<service>/logout` and the callbacks. */
export function loginBase(service: string): string {
  return `/${service}/`;
}

/** Creates a login action: the same gate as in a login module, inside the rules of a policy. */
export function loginAction(kind: LoginKind, config: LoginConfig, compiling: Compiling): ActionBody {
  const { context, pointer } = compiling;
  const logins = context.logins ?? alone();
  const step = stepsOf(kind.type, LOGIN_MESSAGES, pointer);
  const prefix = cookiePrefixOf(config, context.branding.cookiePrefix);
  for (const each of ['session', 'nonce']) logins.registry.cookies.claim(prefix + each);
  const memory = compiling.cell(loginMemory);
  const gates = new Map<string, LoginGate | { readonly missing: string }>();
  const gateOf = (credentials: readonly string[]): LoginGate | { readonly missing: string } => {
    const key = JSON.stringify(credentials);
    let gate = gates.get(key);
    if (gate === undefined) {
      if (gates.size === GATE_CACHE_SIZE) gates.clear();
      const made = kind.provider(credentials, logins);
      gates.set(key, (gate = 'missing' in made ? made : gateFor(kind, config, compiling, logins, made)));
    }
    return gate;
  };
  return {
    run: (policyRun) => {
      // Credentials for another provider may be missing here, and are not sent to this one.
      const credentials =
        replacement(logins) === null
          ? textsOf(kind.credentials, policyRun.activation)
          : kind.credentials.map(() => 'development');
      if (credentials instanceof Failure) return credentials;
      if (credentials.includes(''))
        return compiling.failure(FAILURES.interpolation, 'a credential of the login is empty');
      const gate = gateOf(credentials);
      if ('missing' in gate) {
        const response = context.refusal(501, null, gate.missing);
        return { verdict: 'stop', as: 'not_run', step: step('not_run', { message: gate.missing }), response };
      }
      const settled = (outcome: LoginOutcome): ActionOutcome => settle(policyRun, kind, gate, outcome, step);
      const kept: LoginMemory = memory.of(policyRun);
      const outcome = authenticate(
        gate,
        policyRun.activation.request,
        policyRun.connection,
        kept,
        policyRun.world,
      );
      return concluded(outcome, settled);
    },
  };
}

function alone(): PolicyLogins {
  return { edge: '', keys: newLoginKeys(), registry: loginRegistry(), development: null };
}

function cookiePrefixOf({ auth_id: id = '' }: LoginConfig, prefix: string): string {
  const tag = id.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return prefix + (tag === '' ? '' : `${tag}.`);
}

function gateFor(
  { type }: LoginKind,
  config: LoginConfig,
  { context: { branding } }: Compiling,
  { edge, keys, registry }: PolicyLogins,
  { provider, givesTokens }: { readonly provider: IdentityProvider; readonly givesTokens: boolean },
): LoginGate {
  const { auth_id: id = '', auth_cookie_domain: domain } = config;
  const prefix = cookiePrefixOf(config, branding.cookiePrefix);
  return {
    gate: `policy ${edge} ${id}`,
    realm: branding.service,
    provider,
    keys,
    registry,
    times: {
      inactivityMs: ms(config.idle_session_duration),
      maximumMs: ms(config.max_session_duration),
      checkMs: ms(config.userinfo_refresh_interval),
    },
    base: loginBase(branding.service),
    loginPath: GATE_PATHS.actionLogin,
    sessionCookie: `${prefix}session`,
    nonceCookie: `${prefix}nonce`,
    cookieDomain: domain ?? null,
    optionsPass: config.allow_cors_preflight ? 'preflight' : 'none',
    identityPrefix: branding.identity.auth,
    givesTokens,
    code: (reason) => `${type.replaceAll('-', '_')}.${reason}`,
  };
}

/** Milliseconds; 0 (none) if omitted. */
function ms(written: string | number | undefined): number {
  return written === undefined ? 0 : (durationMs(written) ?? 0);
}

function settle(
  policyRun: PolicyRun,
  kind: LoginKind,
  gate: LoginGate,
  outcome: LoginOutcome,
  step: ReturnType<typeof stepsOf>,
): ActionOutcome {
  const { reason, detail } = outcome;
  if (outcome.verdict === 'stop') {
    const { response } = outcome;
    const as = response.status === 302 ? 'redirected' : response.status >= 400 ? 'denied' : 'replied';
    return { verdict: 'stop', as, step: step(reason, detail), response };
  }
  toUpstream(policyRun, gate, outcome);
  setCookies(policyRun, outcome.cookies);
  if (outcome.session !== null)
    keepResult(policyRun, kind.result, resultOf(outcome.session, outcome, kind, gate.times));
  return { verdict: 'pass', step: step(reason, detail) };
}

/** Later rules see what the upstream will see: without identity headers sent by the client. */
function toUpstream(policyRun: PolicyRun, gate: LoginGate, pass: LoginPass): void {
  const { request } = policyRun.activation;
  const forged = request.headers.filter(
    (text, at) => at % 2 === 0 && foldedName(text).startsWith(gate.identityPrefix),
  );
  removeHeaders(policyRun, ['cookie', ...identityNames(gate.identityPrefix), ...forged]);
  const fields = upstreamFields(gate, pass, request);
  if (fields.length > 0) addHeaders(policyRun, fields);
}

function resultOf(
  session: Session,
  { cookies }: LoginPass,
  { result }: LoginKind,
  times: SessionTimes,
): ActionResult {
  const { id, user, providerSession, tokens, checkedMs, seenMs } = session;
  const atProvider = providerSession ?? id;
  const identity: Record<string, string> = {
    id: `${session.provider} ${user.id}`,
    email: user.email,
    name: user.name,
    provider_user_id: user.id,
    [result === 'oidc' ? 'current_session_id' : 'current_provider_session_id']: atProvider,
  };
  const endMs = idleEndOf(session, times);
  const wasRefreshed = cookies.length > 0 && checkedMs === seenMs;
  return {
    identity,
    ...(tokens !== null && { access_token: tokens.access }),
    ...(tokens !== null && tokens.refresh !== null && { refresh_token: tokens.refresh }),
    ...(result === 'oidc' && tokens !== null && tokens.id !== null && { identity_token: tokens.id }),
    expires_at: endMs === null ? '' : formatTimestamp(new Timestamp(Math.floor(endMs / 1_000), 0)),
    session_timed_out: false,
    session_max_duration_reached: false,
    userinfo_refreshed: wasRefreshed,
    user_info_refreshed: wasRefreshed,
  };
}
