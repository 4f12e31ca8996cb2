import type { Handler, Pass, RequestHead, Verdict } from '../engine/contract.ts';
import { headersEdit } from '../engine/edits.ts';
import type { Linked } from '../engine/module.ts';
import { authenticate } from './authenticate.ts';
import { GATE_PATHS } from './gate_paths.ts';
import { concluded } from './conversation.ts';
import { type LoginGate, type LoginOutcome, upstreamFields } from './gate.ts';
import { identityNames } from './identity.ts';
import { newLoginKeys, samlKeys } from './keys.ts';
import { type LoginMemory, loginMemory } from './memory.ts';
import type { LoginEnvironment } from './policy_logins.ts';
import type { IdentityProvider } from './provider.ts';
import type { LoginReason } from './reasons.ts';
import { loginRegistry } from './registry.ts';

/** Additional links for gates; defaults are created if there is no edge. */
export interface LoginLinks {
  readonly login?: LinkedLogin;
}

export interface LinkedLogin extends LoginEnvironment {
  /** Id of the route; sessions of other routes are invalid here. */
  readonly gate: string;
  /** Reserved path of the gate, such as `/auth/`. */
  readonly base: string;
  /** Distinguishes the cookies of several gates of an edge; empty for the first one. */
  readonly tag: string;
  /** Id of the route if the configuration has ids; its SAML addresses are then on the service host. */
  readonly routeId: string | null;
}

/** Common fields of session gates (`session` in `filters/module_fields_schema.ts`). */
export interface GateConfig {
  readonly options_passthrough: boolean;
  readonly cookie_prefix?: string | undefined;
  readonly inactivity_timeout: number;
  readonly maximum_duration: number;
  readonly auth_check_interval?: number;
}

/** The links of the gate, with defaults if there is no edge. */
export function linkedLogin({ login, pointer }: Linked & LoginLinks): LinkedLogin {
  if (login !== undefined) return login;
  const keys = newLoginKeys();
  return {
    gate: pointer,
    base: '/auth/',
    tag: '',
    keys,
    registry: loginRegistry(),
    development: null,
    takesOver: false,
    routeId: null,
    developmentSaml: null,
    samlKeys: samlKeys(),
  };
}

/** Creates the handler of a session gate for a protocol. */
export function gateHandler(
  type: string,
  config: GateConfig,
  linked: Linked & LoginLinks,
  provider: IdentityProvider,
  options: { readonly givesTokens: boolean },
): Handler<LoginMemory> {
  const { branding } = linked;
  const { gate: id, base, tag, keys, registry } = linkedLogin(linked);
  const given = config.cookie_prefix ?? '';
  const prefix = (given === '' ? branding.cookiePrefix : given) + (tag === '' ? '' : `${tag}.`);
  registry.cookies.claim(`${prefix}session`);
  registry.cookies.claim(`${prefix}nonce`);
  const gate: LoginGate = {
    gate: id,
    realm: branding.service,
    provider,
    keys,
    registry,
    times: {
      inactivityMs: config.inactivity_timeout * 1_000,
      maximumMs: config.maximum_duration * 1_000,
      checkMs: (config.auth_check_interval ?? 0) * 1_000,
    },
    base,
    loginPath: GATE_PATHS.moduleLogin,
    sessionCookie: `${prefix}session`,
    nonceCookie: `${prefix}nonce`,
    cookieDomain: null,
    optionsPass: config.options_passthrough ? 'all' : 'none',
    identityPrefix: branding.identity.auth,
    givesTokens: options.givesTokens,
    code: (reason) => `${type}.${reason}`,
  };
  return handlerOf(type, gate);
}

/** Passed to the response phase: the cookies to set. */
interface FilterData {
  readonly cookies: readonly string[];
}

function handlerOf(type: string, gate: LoginGate): Handler<LoginMemory> {
  const code = (reason: LoginReason): string => `${type}.${reason}`;
  const kept: Pass = { verdict: 'pass', reason: { code: code('cookie_kept'), detail: {} } };
  return {
    initial: loginMemory,
    reserves: [gate.base],
    onRequest: (request, connection, memory, world) => {
      const outcome = authenticate(gate, request, connection, memory, world);
      return concluded(outcome, (value) => verdictOf(gate, value, request, code));
    },
    onResponse: (_response, _request, _connection, _world, filterData) => {
      const { cookies } = (filterData as FilterData | undefined) ?? { cookies: [] };
      if (cookies.length === 0) return kept;
      const fields = cookies.flatMap((cookie) => ['set-cookie', cookie]);
      const reason = { code: code('cookie_set'), detail: { cookies: cookies.length } };
      return { verdict: 'pass', reason, edits: [headersEdit('response', [], fields)] };
    },
  };
}

function verdictOf(
  gate: LoginGate,
  outcome: LoginOutcome,
  request: RequestHead,
  code: (reason: LoginReason) => string,
): Verdict {
  const { clientId } = gate.provider;
  const detail = clientId === '' ? outcome.detail : { ...outcome.detail, client_id: clientId };
  const reason = { code: code(outcome.reason), detail };
  if (outcome.verdict === 'stop') return { verdict: 'stop', reason, response: outcome.response };
  const filterData: FilterData = { cookies: outcome.cookies };
  const replaced = ['cookie', ...identityNames(gate.identityPrefix)];
  const edits = [headersEdit('request', replaced, upstreamFields(gate, outcome, request))];
  return { verdict: 'pass', reason, edits, filterData };
}
