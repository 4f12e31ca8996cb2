import { type Flow, asked } from '../flow.ts';
import type { LoginTokens } from '../identity.ts';
import type { Pending } from '../pending.ts';
import type {
  Begun,
  IdentityProvider,
  LoggedIn,
  LoginContext,
  LoginRefusal,
  LoginSite,
} from '../provider.ts';
import { returnPath } from '../return_to.ts';
import { SAML_PATHS } from './addresses.ts';
import { type SamlIdentity, believeResponse, openResponse, signatureQuestion } from './believe.ts';
import { postPage, redirectUrl } from './bindings.ts';
import { logoutUrl, singleLogout } from './logout.ts';
import { authnRequest, serviceMetadata } from './messages.ts';
import { SAML_REFUSALS, type SamlRefusal, type SamlRefusalCode, isRefusal, refuse } from './reasons.ts';
import { useAssertion } from './replay.ts';
import { type SamlSettings, TOLERANCE_MS, providerSession, requestId } from './settings.ts';

/** The web browser profile of SAML 2.0 (Profiles §4.1) with single logout (§4.4); `id` is the name in sessions. */
export function samlProvider(
  settings: SamlSettings,
  id = `saml ${settings.metadata.entityId}`,
): IdentityProvider {
  const { metadata, allowIdpInitiated, nameIdFormat } = settings;
  return {
    id,
    label: metadata.entityId,
    clientId: '',
    callback: SAML_PATHS.acs,
    callbackBy: 'post',
    stateField: 'RelayState',
    shortState: true,
    begin: (pending, state, context) => begin(settings, pending, state, context),
    finish: (fields, pending, context) => finish(settings, fields, pending, context),
    unsolicited: () => allowIdpInitiated,
    check: sessionOver,
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
  pending: Pending,
  state: string,
  { site, world }: LoginContext,
): Begun {
  const { metadata, forceAuthn, nameIdFormat } = settings;
  const { binding, url } = metadata.singleSignOn;
  const { entityId, acsUrl } = settings.addresses(site);
  const head = { id: requestId(pending.id, site), atMs: world.nowMs(), destination: url, issuer: entityId };
  const message = authnRequest(head, { acsUrl, forceAuthn, nameIdFormat });
  const identity = settings.signing(world.nowMs());
  if (binding === 'redirect') {
    const location = redirectUrl(url, 'SAMLRequest', message, state, identity);
    return location === null ? withoutKey() : { location };
  }
  const response = postPage(url, 'SAMLRequest', message, state, identity);
  return response === null ? withoutKey() : { response };
}

function withoutKey(): LoginRefusal {
  return { refused: 'provider_failed', says: 'The key that requests are signed with cannot be used.' };
}

function* finish(
  settings: SamlSettings,
  fields: URLSearchParams,
  pending: Pending | null,
  context: LoginContext,
): Flow<LoggedIn | LoginRefusal> {
  const { metadata } = settings;
  const sent = fields.getAll('SAMLResponse');
  if (sent.length !== 1) return told(refuse(sent.length === 0 ? 'message_missing' : 'message_repeated'));
  const opened = openResponse(sent[0]!);
  if (isRefusal(opened)) return told(opened);
  const answer = yield* asked({ ask: 'signature', request: signatureQuestion(opened, metadata) });
  const nowMs = context.world.nowMs();
  const { entityId, acsUrl } = settings.addresses(context.site);
  const identity = believeResponse(opened, answer, {
    provider: metadata,
    entityId,
    acsUrl,
    nameIdFormat: settings.nameIdFormat,
    authorizedGroups: settings.authorizedGroups,
    request:
      pending === null
        ? null
        : {
            id: requestId(pending.id, context.site),
            freshSinceMs: settings.forceAuthn ? pending.startMs : null,
          },
    nowMs,
    toleranceMs: TOLERANCE_MS,
  });
  if (isRefusal(identity)) return told(identity);
  const { assertionId, assertionUntilMs } = identity;
  const use = useAssertion(context.registry.assertions, `${acsUrl} ${assertionId}`, assertionUntilMs, nowMs);
  if (use !== 'fresh') return told(refuse(use === 'used' ? 'replayed' : 'replay_full', { id: assertionId }));
  const returnTo = pending === null ? relayedPath(fields, context.site) : null;
  return loggedIn(identity, returnTo);
}

/** Where the identity provider wants the user to go (Bindings §3.4.3): a path, or a URL of this very origin. */
function relayedPath(fields: URLSearchParams, { origin }: LoginSite): string {
  const relayed = fields.get('RelayState') ?? '';
  const path = relayed.startsWith(`${origin}/`) ? relayed.slice(origin.length) : relayed;
  return returnPath(path, '/');
}

function loggedIn(identity: SamlIdentity, returnTo: string | null): LoggedIn {
  const { nameId, email, name, groups, sessionIndex } = identity;
  return {
    user: { id: nameId, name, email, groups },
    providerSession: sessionIndex === null ? null : providerSession(nameId, sessionIndex),
    tokens: endingAt(identity.sessionUntilMs),
    ...(returnTo === null ? {} : { returnTo }),
  };
}

/**
 * SAML has no tokens, but a session may have an end (Core §2.7.2): as a token that expires then and cannot be
 * refreshed, it makes the gate ask at that time, and the answer is that the session is over.
 */
function endingAt(untilMs: number | null): LoginTokens | null {
  return untilMs === null ? null : { access: '', refresh: '', id: null, expiresMs: untilMs };
}

// oxlint-disable-next-line require-yield -- there is nothing to ask: the answer is known
function* sessionOver(): Flow<LoginRefusal> {
  return { refused: 'denied', says: 'The session at the identity provider is over.' };
}

// table: what the gate calls a refusal of the protocol; all others are of an identity that cannot be trusted
const KINDS: Readonly<Partial<Record<SamlRefusalCode, LoginRefusal['refused']>>> = {
  message_missing: 'callback_refused',
  message_repeated: 'callback_refused',
  status: 'denied',
  group: 'not_authorized',
  verifier_unavailable: 'provider_failed',
  replay_full: 'provider_failed',
};

/** Tells a refusal as the gate does: a sentence for the page, the reason and its facts for the trace. */
export function told({ refused, detail }: SamlRefusal): LoginRefusal {
  const facts = Object.entries(detail).map(([name, value]) => [
    name === 'says' ? 'because' : name,
    String(value),
  ]);
  return {
    refused: KINDS[refused] ?? 'identity_refused',
    says: `The answer of the identity provider is refused: ${SAML_REFUSALS[refused]}.`,
    detail: { reason: refused, ...(Object.fromEntries(facts) as Record<string, string>) },
  };
}
