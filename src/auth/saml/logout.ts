import { CLOCKS_DIFFER_MS } from '../limits.ts';
import { GATE_PATHS } from '../gate_paths.ts';
import { type Conversation, asked, postedForm } from '../conversation.ts';
import { secretOf } from '../keys.ts';
import { published, useIdOnce } from '../one_time.ts';
import { redirectTo } from '../pages.ts';
import type { Answered, LoginContext } from '../provider.ts';
import type { Session } from '../session.ts';
import { postPage, readRedirect, redirectUrl } from './bindings.ts';
import { NS, attributeOf, childrenOf, isNamed, textOf } from './elements.ts';
import { readInstant } from './instants.ts';
import { type Message, decodeMessage, findSignatures, readMessage } from './message.ts';
import { hasEnded } from './metadata.ts';
import { logoutRequest, logoutResponse } from './messages.ts';
import { UNSPECIFIED, readNameId } from './name_id.ts';
import { SAML_REFUSALS, type SamlRefusal, isRefusal, refuse } from './reasons.ts';
import { headProblem } from './response.ts';
import { type SamlSettings, providerSession, requestId } from './settings.ts';
import { readSigned } from './verified.ts';
import type { XmlElement } from './xml_tree.ts';

/** Maximum age of logout messages; their ids are remembered for this time. */
const MESSAGE_LIFE_MS = 10 * 60_000;
const ID_BYTES = 16;

/** URL that ends the session at the identity provider, too; null if it has no redirect binding for logouts. */
export function logoutUrl(settings: SamlSettings, session: Session, context: LoginContext): string | null {
  const { metadata, nameIdFormat } = settings;
  const { singleLogout: to } = metadata;
  if (to === null || to.binding !== 'redirect') return null;
  const { site, world } = context;
  const index =
    session.providerSession === null ? null : (JSON.parse(session.providerSession) as string[])[1];
  const head = {
    id: requestId(secretOf(world, ID_BYTES), site),
    atMs: world.nowMs(),
    destination: to.url,
    issuer: settings.addresses(site).entityId,
  };
  const user = { nameId: session.user.id, nameIdFormat, sessionIndex: index ?? null };
  return redirectUrl(to.url, 'SAMLRequest', logoutRequest(head, user), null, settings.signing(world.nowMs()));
}

/**
 * Handles a single logout message (Profiles §4.4): a request of the identity provider ends sessions here and
 * is answered; its response continues the browser's logout. Only signed messages are accepted.
 */
export function* singleLogout(
  settings: SamlSettings,
  provider: string,
  context: LoginContext,
): Conversation<Answered> {
  if (hasEnded(settings.metadata, context.world.nowMs())) return refused(refuse('metadata_ended'));
  const read = yield* readLogoutMessage(settings, context);
  if (isRefusal(read)) return refused(read);
  const { root, relayState } = read;
  const problem = yield* logoutProblem(settings, context, root);
  if (problem !== null) return refused(problem);
  if (isNamed(root, NS.protocol, 'LogoutResponse')) return signedOut(context);
  const answered = endSessions(settings, provider, context, root, relayState);
  yield* published(context);
  return answered;
}

interface LogoutMessage {
  /** From signed bytes. */
  readonly root: XmlElement;
  readonly relayState: string | null;
}

function* readLogoutMessage(
  settings: SamlSettings,
  { request }: LoginContext,
): Conversation<LogoutMessage | SamlRefusal> {
  const { certificates } = settings.metadata;
  const pems = certificates.map(({ pem }) => pem);
  if (request.method === 'GET') {
    const redirected = readRedirect(request.query ?? '', pems);
    if (isRefusal(redirected)) return redirected;
    const message = readMessage(redirected.xml);
    // The signature of this binding covers the whole message.
    return isRefusal(message) ? message : { root: message.root, relayState: redirected.relayState };
  }
  if (request.method !== 'POST') return refuse('message_missing');
  const fields = yield* postedForm();
  if (fields === null) return refuse('message_missing');
  const sent = [...fields.getAll('SAMLRequest'), ...fields.getAll('SAMLResponse')];
  if (sent.length !== 1) return refuse(sent.length === 0 ? 'message_missing' : 'message_repeated');
  const decoded = decodeMessage(sent[0]!);
  const message = isRefusal(decoded) ? decoded : readMessage(decoded.xml);
  if (isRefusal(message)) return message;
  return yield* readSignedMessage(message, pems, fields.get('RelayState'));
}

function* readSignedMessage(
  message: Message,
  certificates: readonly string[],
  relayState: string | null,
): Conversation<LogoutMessage | SamlRefusal> {
  const signed = findSignatures(message, [message.root]);
  if (isRefusal(signed)) return signed;
  const request = { xml: message.xml, ids: signed.map(({ id }) => id), certificates };
  const roots = readSigned(signed, yield* asked({ ask: 'signature', request }));
  return isRefusal(roots) ? roots : { root: roots[0]!, relayState };
}

function* logoutProblem(
  settings: SamlSettings,
  context: LoginContext,
  root: XmlElement,
): Conversation<SamlRefusal | null> {
  const isRequest = isNamed(root, NS.protocol, 'LogoutRequest');
  if (!isRequest && !isNamed(root, NS.protocol, 'LogoutResponse')) return refuse('not_a_logout_message');
  const nowMs = context.world.nowMs();
  const { entityId } = settings.metadata;
  const destination = settings.addresses(context.site).sloUrl;
  const wrong = headProblem(root, true, { entityId, destination, nowMs, toleranceMs: CLOCKS_DIFFER_MS });
  if (wrong !== null || !isRequest) return wrong;
  const issuedMs = readInstant(attributeOf(root, 'IssueInstant') ?? '') ?? 0;
  const until = attributeOf(root, 'NotOnOrAfter');
  const untilMs = until === undefined ? issuedMs + MESSAGE_LIFE_MS : readInstant(until);
  if (untilMs === null) return refuse('time_malformed', { at: until });
  const endMs = Math.min(untilMs, issuedMs + MESSAGE_LIFE_MS) + CLOCKS_DIFFER_MS;
  if (nowMs >= endMs) return refuse('expired', { at: until });
  const id = attributeOf(root, 'ID') ?? '';
  const use = yield* useIdOnce(context, 'message', `logout ${destination} ${id}`, {
    sinceMs: issuedMs,
    untilMs: endMs,
  });
  if (use === 'fresh') return null;
  return refuse(use === 'used' ? 'replayed' : 'replay_unknown', { id });
}

function endSessions(
  settings: SamlSettings,
  provider: string,
  context: LoginContext,
  root: XmlElement,
  relayState: string | null,
): Answered {
  const { registry, world, site } = context;
  const { metadata } = settings;
  const addresses = settings.addresses(site);
  const expected = {
    nameIdFormat: UNSPECIFIED,
    issuer: metadata.entityId,
    audience: addresses.entityId,
  };
  const nameId = readNameId(root, expected);
  if (isRefusal(nameId)) return refused(nameId);
  const nowMs = world.nowMs();
  const indexes = childrenOf(root, NS.protocol, 'SessionIndex').map((each) => textOf(each) ?? '');
  // Without an index all sessions of the user end (Core §3.7.3.2).
  if (indexes.length === 0) registry.revokeAt(provider, { user: nameId.value }, nowMs);
  for (const index of indexes) {
    registry.revokeAt(provider, { session: providerSession(nameId.value, index) }, nowMs);
  }
  const detail = { user_id: nameId.value, sessions: String(indexes.length) };
  const { singleLogout: to } = metadata;
  if (to === null) return { ...signedOut(context), reason: 'provider_logout', detail };
  const head = {
    id: `_${secretOf(world, ID_BYTES)}`,
    atMs: nowMs,
    destination: to.responseUrl,
    issuer: addresses.entityId,
  };
  const message = logoutResponse(head, attributeOf(root, 'ID') ?? '');
  const identity = settings.signing(nowMs);
  if (to.binding === 'post') {
    const page = postPage(to.responseUrl, 'SAMLResponse', message, relayState, identity);
    if (page !== null) return { reason: 'provider_logout', detail, response: page };
  }
  const url = redirectUrl(to.responseUrl, 'SAMLResponse', message, relayState, identity);
  const response = redirectTo(url ?? site.base + GATE_PATHS.signedOut);
  return { reason: 'provider_logout', detail, response };
}

function signedOut({ site }: LoginContext): Answered {
  return {
    reason: 'logged_out',
    detail: { step: 'answered' },
    response: redirectTo(site.base + GATE_PATHS.signedOut),
  };
}

function refused({ refused: reason, detail }: SamlRefusal): Answered {
  const body = `The logout message was refused: ${SAML_REFUSALS[reason]}.\n`;
  const headers = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'];
  const facts = Object.entries(detail).map(([name, value]) => [name, String(value)]);
  return {
    reason: 'callback_refused',
    detail: { reason, ...(Object.fromEntries(facts) as Record<string, string>) },
    response: { status: 400, headers, body },
  };
}
