import { CLOCKS_DIFFER_MS } from '../limits.ts';
import { type Conversation, asked } from '../conversation.ts';
import { UNKNOWN_USE, useAssertionOnce } from '../one_time.ts';
import { listsDigest } from '../identity.ts';
import { type LoginState, returnPath } from '../login_state.ts';
import type {
  LoginStart,
  IdentityProvider,
  LoggedIn,
  LoginContext,
  LoginRefusal,
  LoginSite,
} from '../provider.ts';
import type { Session } from '../session.ts';
import { SAML_PATHS } from './addresses.ts';
import { type SamlIdentity, validateResponse, openResponse, signatureQuestion } from './validate_response.ts';
import { postPage, redirectUrl } from './bindings.ts';
import { logoutUrl, singleLogout } from './logout.ts';
import { hasEnded } from './metadata.ts';
import { authnRequest, serviceMetadata } from './messages.ts';
import { SAML_REFUSALS, type SamlRefusal, type SamlRefusalCode, isRefusal, refuse } from './reasons.ts';
import { type SamlSettings, providerSession, requestId } from './settings.ts';

/**
 * The web browser SSO profile of SAML 2.0 (Profiles §4.1) with single logout (§4.4); `id` is the provider id
 * in sessions.
 */
export function samlProvider(
  settings: SamlSettings,
  id = `saml ${settings.metadata.entityId}`,
): IdentityProvider {
  const { metadata, allowIdpInitiated, nameIdFormat } = settings;
  return {
    id,
    label: metadata.entityId,
    clientId: '',
    lists: listsDigest([settings.authorizedGroups]),
    callback: SAML_PATHS.acs,
    callbackBy: 'post',
    stateField: 'RelayState',
    shortState: true,
    begin: (loginState, state, context) => begin(settings, loginState, state, context),
    finish: (fields, loginState, context) => finish(settings, fields, loginState, context),
    unsolicited: () => allowIdpInitiated,
    check: (session) => checkGroups(settings, session),
    logout: (session, context) => logoutUrl(settings, session, context),
    other: (path, context) => {
      const { method } = context.request;
      if (path === SAML_PATHS.slo) return singleLogout(settings, id, context);
      if (path !== SAML_PATHS.metadata || (method !== 'GET' && method !== 'HEAD')) return null;
      const text = serviceMetadata(
        settings.addresses(context.site),
        settings.signing(context.world.nowMs()),
        nameIdFormat,
      );
      const headers = ['content-type', 'application/samlmetadata+xml', 'cache-control', 'no-store'];
      return {
        reason: 'answered',
        detail: { path },
        response: { status: 200, headers, body: method === 'HEAD' ? '' : text },
      };
    },
  };
}

function begin(
  settings: SamlSettings,
  loginState: LoginState,
  state: string,
  { site, world }: LoginContext,
): LoginStart {
  const { metadata, forceAuthn, nameIdFormat } = settings;
  if (hasEnded(metadata, world.nowMs())) return refusalOf(refuse('metadata_ended'), 'The login cannot start');
  const { binding, url } = metadata.singleSignOn;
  const { entityId, acsUrl } = settings.addresses(site);
  const head = {
    id: requestId(loginState.id, site),
    atMs: world.nowMs(),
    destination: url,
    issuer: entityId,
  };
  const message = authnRequest(head, { acsUrl, forceAuthn, nameIdFormat });
  const identity = settings.signing(world.nowMs());
  if (binding === 'redirect') {
    const location = redirectUrl(url, 'SAMLRequest', message, state, identity);
    return location === null ? unusableKey() : { location };
  }
  const response = postPage(url, 'SAMLRequest', message, state, identity);
  return response === null ? unusableKey() : { response };
}

function unusableKey(): LoginRefusal {
  return { refused: 'provider_failed', message: 'The signing key for requests is unusable.' };
}

function* finish(
  settings: SamlSettings,
  fields: URLSearchParams,
  loginState: LoginState | null,
  context: LoginContext,
): Conversation<LoggedIn | LoginRefusal> {
  const { metadata } = settings;
  if (hasEnded(metadata, context.world.nowMs())) return refusalOf(refuse('metadata_ended'));
  const sent = fields.getAll('SAMLResponse');
  if (sent.length !== 1) return refusalOf(refuse(sent.length === 0 ? 'message_missing' : 'message_repeated'));
  const opened = openResponse(sent[0]!);
  if (isRefusal(opened)) return refusalOf(opened);
  const answer = yield* asked({ ask: 'signature', request: signatureQuestion(opened, metadata) });
  const nowMs = context.world.nowMs();
  const { entityId, acsUrl } = settings.addresses(context.site);
  const identity = validateResponse(opened, answer, {
    provider: metadata,
    entityId,
    acsUrl,
    nameIdFormat: settings.nameIdFormat,
    authorizedGroups: settings.authorizedGroups,
    request:
      loginState === null
        ? null
        : {
            id: requestId(loginState.id, context.site),
            freshSinceMs: settings.forceAuthn ? loginState.startMs : null,
          },
    nowMs,
    toleranceMs: CLOCKS_DIFFER_MS,
  });
  if (isRefusal(identity)) return refusalOf(identity);
  const { assertionId, issuedMs: sinceMs, assertionUntilMs: untilMs } = identity;
  const use = yield* useAssertionOnce(context, `${acsUrl} ${assertionId}`, { sinceMs, untilMs });
  if (use === 'unknown') return UNKNOWN_USE;
  if (use !== 'fresh')
    return refusalOf(refuse(use === 'used' ? 'replayed' : 'replay_full', { id: assertionId }));
  const returnTo = loginState === null ? relayStatePath(fields, context.site) : null;
  return loggedIn(identity, returnTo);
}

/** The return path requested by the identity provider (Bindings §3.4.3): a path, or a URL of this origin. */
function relayStatePath(fields: URLSearchParams, { origin }: LoginSite): string {
  const relayed = fields.get('RelayState') ?? '';
  const path = relayed.startsWith(`${origin}/`) ? relayed.slice(origin.length) : relayed;
  return returnPath(path, '/');
}

function loggedIn(identity: SamlIdentity, returnTo: string | null): LoggedIn {
  const { nameId, email, name, groups, sessionIndex } = identity;
  return {
    user: { id: nameId, name, email, groups },
    providerSession: sessionIndex === null ? null : providerSession(nameId, sessionIndex),
    tokens: null,
    untilMs: identity.sessionUntilMs,
    ...(returnTo === null ? {} : { returnTo }),
  };
}

/**
 * SAML offers no way to ask the provider, so a check is due only if the authorized groups have changed since
 * the login; they are compared with the groups of the assertion.
 */
// oxlint-disable-next-line require-yield -- the check asks no question
function* checkGroups(
  { authorizedGroups }: SamlSettings,
  { user, providerSession: session }: Session,
): Conversation<LoggedIn | LoginRefusal> {
  const isIn = authorizedGroups.length === 0 || user.groups.some((group) => authorizedGroups.includes(group));
  if (isIn) return { user, providerSession: session, tokens: null };
  return {
    refused: 'not_authorized',
    message: 'The authorized groups have changed, and you are not a member of any.',
    detail: { reason: 'group' },
  };
}

// table: kinds of refusals of the gate; all other codes are `identity_refused`
const KINDS: Readonly<Partial<Record<SamlRefusalCode, LoginRefusal['refused']>>> = {
  message_missing: 'callback_refused',
  message_repeated: 'callback_refused',
  status: 'denied',
  group: 'not_authorized',
  verifier_unavailable: 'provider_failed',
  replay_full: 'provider_failed',
  metadata_ended: 'provider_failed',
};

/** Converts a refusal: a sentence for the page, the reason and its facts for the trace. */
function refusalOf(
  { refused, detail }: SamlRefusal,
  what = 'The response of the identity provider was refused',
): LoginRefusal {
  const facts = Object.entries(detail).map(([name, value]) => [name, String(value)]);
  return {
    refused: KINDS[refused] ?? 'identity_refused',
    message: `${what}: ${SAML_REFUSALS[refused]}.`,
    detail: { reason: refused, ...(Object.fromEntries(facts) as Record<string, string>) },
  };
}
