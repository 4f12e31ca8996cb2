import type { Handler, Pass, RequestHead, Verdict } from '../engine/contract.ts';
import { headersEdit } from '../engine/edits.ts';
import type { Linked } from '../engine/module.ts';
import { admit } from '../mechanisms/login/admit.ts';
import { conversed, isFlow } from '../mechanisms/login/flow.ts';
import type { LoginGate, LoginOutcome } from '../mechanisms/login/gate.ts';
import { type LoginKeys, newLoginKeys } from '../mechanisms/login/keys.ts';
import { type LoginMemory, loginMemory } from '../mechanisms/login/memory.ts';
import type { IdentityProvider } from '../mechanisms/login/provider.ts';
import type { LoginReason } from '../mechanisms/login/reasons.ts';
import { type LoginRegistry, loginRegistry } from '../mechanisms/login/registry.ts';
import { type SamlKeys, samlKeys } from '../mechanisms/login/saml/keys.ts';
import { upstreamFields } from '../mechanisms/login/upstream_fields.ts';

/** What the edge gives its gates beyond what every module is given; all that is left out is made for the gate alone. */
export interface LoginLinks {
  readonly login?: {
    /** Id of the route: sessions of another do not count. */
    readonly gate: string;
    /** Reserved path of the gate, such as `/auth/`. */
    readonly base: string;
    /** Told apart from other gates of its edge by this, in the names of cookies; empty for the first one. */
    readonly tag: string;
    readonly keys: LoginKeys;
    readonly registry: LoginRegistry;
    /** URL of the development identity provider, which stands in for managed apps; null outside of development. */
    readonly development: string | null;
    /** Id of the route, where the configuration has ids: its SAML addresses are on the host of the service then. */
    readonly routeId: string | null;
    /** Metadata of the development provider's SAML part, for gates that name it; its key is new at each start. */
    readonly developmentSaml: string | null;
    /** Keys that SAML requests are signed with. */
    readonly samlKeys: SamlKeys;
  };
}

export type LinkedLogin = NonNullable<LoginLinks['login']>;

/** What the configs of all session gates have in common (`session` in `modules/schema.ts`). */
export interface GateConfig {
  readonly options_passthrough: boolean;
  readonly cookie_prefix?: string | undefined;
  readonly inactivity_timeout: number;
  readonly maximum_duration: number;
  readonly auth_check_interval?: number;
}

/** The gate's surroundings, or such as serve a gate that stands alone. */
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
    routeId: null,
    developmentSaml: null,
    samlKeys: samlKeys(),
  };
}

/** Makes the handler of a session gate from the part of its protocol. */
export function gateHandler(
  type: string,
  config: GateConfig,
  linked: Linked & LoginLinks,
  provider: IdentityProvider,
  options: { readonly givesTokens: boolean },
): Handler<LoginMemory> {
  const { naming } = linked;
  const { gate: id, base, tag, keys, registry } = linkedLogin(linked);
  const given = config.cookie_prefix ?? '';
  const prefix = (given === '' ? naming.cookiePrefix : given) + (tag === '' ? '' : `${tag}.`);
  const gate: LoginGate = {
    gate: id,
    realm: naming.service,
    provider,
    keys,
    registry,
    times: {
      inactivityMs: config.inactivity_timeout * 1_000,
      maximumMs: config.maximum_duration * 1_000,
      checkMs: (config.auth_check_interval ?? 0) * 1_000,
    },
    base,
    loginPath: 'authn',
    sessionCookie: `${prefix}session`,
    nonceCookie: `${prefix}nonce`,
    cookieDomain: null,
    optionsPass: config.options_passthrough ? 'all' : 'none',
    identityPrefix: naming.identity.auth,
    givesTokens: options.givesTokens,
    code: (reason) => `${type}.${reason}`,
  };
  return handlerOf(type, gate);
}

/** What the response phase is told: the cookies to set. */
interface Carry {
  readonly cookies: readonly string[];
}

function handlerOf(type: string, gate: LoginGate): Handler<LoginMemory> {
  const code = (reason: LoginReason): string => `${type}.${reason}`;
  const kept: Pass = { verdict: 'pass', because: { code: code('cookie_kept'), detail: {} } };
  return {
    initial: loginMemory,
    reserves: [gate.base],
    onRequest: (request, connection, memory, world) => {
      const outcome = admit(gate, request, connection, memory, world);
      if (!isFlow(outcome)) return verdictOf(gate, outcome, request, code);
      return conversed(outcome, (value) => verdictOf(gate, value, request, code));
    },
    onResponse: (_response, _request, _connection, _world, carry) => {
      const { cookies } = (carry as Carry | undefined) ?? { cookies: [] };
      if (cookies.length === 0) return kept;
      const fields = cookies.flatMap((cookie) => ['set-cookie', cookie]);
      const because = { code: code('cookie_set'), detail: { cookies: cookies.length } };
      return { verdict: 'pass', because, edits: [headersEdit('response', [], fields)] };
    },
    // Flows write to the memory as they go; this tells the engine that there is one.
    reduce: () => {},
  };
}

function verdictOf(
  gate: LoginGate,
  outcome: LoginOutcome,
  request: RequestHead,
  code: (reason: LoginReason) => string,
): Verdict {
  const because = { code: code(outcome.reason), detail: outcome.detail };
  if (outcome.does === 'stop') return { verdict: 'stop', because, response: outcome.response };
  const carry: Carry = { cookies: outcome.cookies };
  const edits = [headersEdit('request', ['cookie'], upstreamFields(gate, outcome, request))];
  return { verdict: 'pass', because, edits, carry };
}
