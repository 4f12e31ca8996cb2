import { recentValues } from '../caches/recent_values.ts';
import { type SigningIdentity, newSigningIdentity } from '../crypto/issue_certificate.ts';
import type { LocalResponse } from '../engine/questions.ts';
import { formPage } from '../auth/pages.ts';
import { redirectUrl } from '../auth/saml/bindings.ts';
import { canonical, element, keyInfo, rsaSigner } from '../auth/saml/canonical.ts';
import { NS, attributeOf, childOf, isNamed, textOf } from '../auth/saml/elements.ts';
import { logoutResponse } from '../auth/saml/messages.ts';
import { BINDING } from '../auth/saml/metadata.ts';
import { type Identity, returnedState } from './identities.ts';
import { loginPage } from './login_page.ts';
import { readLoginRequest, readServiceMessage } from './saml_request.ts';
import { type SamlAsked, formatWanted, samlResponse } from './saml_response.ts';

interface SamlPartRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

/** The SAML part of the development provider: metadata, login page with signed responses, single logout. */
export interface SamlPart {
  /** Its metadata, for the configuration of a login gate. */
  readonly metadata: (nowMs: number) => string;
  /** Null: the path is not a SAML path. `isSlow` marks an identity with a delay. */
  readonly handle: (
    request: SamlPartRequest,
    identities: ReadonlyMap<string, Identity>,
    nowMs: number,
  ) => { readonly response: LocalResponse; readonly isSlow: boolean } | null;
}

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const PAGE = ['content-type', 'text/html; charset=utf-8', 'cache-control', 'no-store'];
const XML = ['content-type', 'application/samlmetadata+xml', 'cache-control', 'no-store'];

/** Entity id of the SAML part of the provider at an origin. */
export function samlEntityId(origin: string): string {
  return `${origin}/saml/metadata`;
}

/** Making a key takes a tenth of a second: the providers of simulated cases, which begin at one time, share theirs. */
const recentKey = recentValues((text) => {
  const [nowMs, name] = JSON.parse(text) as readonly [number, string];
  return newSigningIdentity(name, nowMs);
}, 4);

/** Creates the SAML part of the provider at `origin`; its keys are created on first use. */
export function samlPart(origin: string, newSecret: () => string): SamlPart {
  const made = new Map<string, SigningIdentity>();
  const keyOf = (name: string, nowMs: number): SigningIdentity => {
    const known = made.get(name) ?? recentKey(JSON.stringify([nowMs, name]));
    made.set(name, known);
    return known;
  };
  const keyAt = (nowMs: number): SigningIdentity => keyOf('development identity provider', nowMs);
  const newId = (): string => `_${newSecret()}`;
  const entityId = samlEntityId(origin);

  function signOn(fields: URLSearchParams, identities: ReadonlyMap<string, Identity>, nowMs: number) {
    const asked = askedOf(fields);
    if (typeof asked === 'string') return quick(plain(400, asked));
    const identity = identities.get(fields.get('login_as') ?? '');
    if (identity === undefined) return quick(choose(asked, fields, identities.values()));
    const right = rsaSigner(keyAt(nowMs));
    const signers = {
      right,
      wrong:
        identity.misbehave === 'bad_signature' ? rsaSigner(keyOf('another identity provider', nowMs)) : right,
    };
    const answer = samlResponse(identity, asked, entityId, nowMs, newId, signers);
    if (answer === null) return quick(plain(500, 'the key cannot be used'));
    const encoded = Buffer.from(answer.xml, 'utf8').toString('base64');
    const relay = asked.relayState === null ? null : returnedState(identity, asked.relayState);
    const page = formPage(asked.acsUrl, [
      ['SAMLResponse', encoded],
      ...(relay === null ? [] : [['RelayState', relay] as const]),
    ]);
    return { response: page, isSlow: identity.misbehave === 'slow' };
  }

  const metadata = (nowMs: number): string => metadataOf(origin, entityId, keyAt(nowMs));
  return {
    metadata,
    handle: ({ method, url, body }, identities, nowMs) => {
      const fields = method === 'POST' ? new URLSearchParams(body) : url.searchParams;
      switch (url.pathname) {
        case '/saml/metadata':
          return quick({ status: 200, headers: XML, body: metadata(nowMs) });
        case '/saml/sso':
          return signOn(fields, identities, nowMs);
        case '/saml/slo':
          return quick(logOut(fields, entityId, keyAt(nowMs), nowMs, newId));
        default:
          return null;
      }
    },
  };
}

/** Answers a logout request with success; there are no sessions to end. */
function logOut(
  fields: URLSearchParams,
  entityId: string,
  identity: SigningIdentity,
  nowMs: number,
  newId: () => string,
): LocalResponse {
  const encoded = fields.get('SAMLRequest');
  if (encoded === null) return { status: 200, headers: PAGE, body: '<!DOCTYPE html><p>Logged out.</p>\n' };
  const root = readServiceMessage(encoded);
  if (typeof root === 'string') return plain(400, root);
  const issuer = childOf(root, NS.assertion, 'Issuer');
  const sender = issuer === undefined ? null : textOf(issuer);
  const id = attributeOf(root, 'ID');
  if (!isNamed(root, NS.protocol, 'LogoutRequest') || sender === null || id === undefined) {
    return plain(400, 'the message is not a LogoutRequest');
  }
  // The entity id of a login gate is its metadata URL; the logout service is next to it.
  const destination = sender.replace(/\/metadata$/, '/slo');
  if (!/^https?:\/\//.test(destination) || !URL.canParse(destination))
    return plain(400, 'the issuer is not a URL');
  const head = { id: newId(), atMs: nowMs, destination, issuer: entityId };
  const location = redirectUrl(
    destination,
    'SAMLResponse',
    logoutResponse(head, id),
    fields.get('RelayState'),
    identity,
  );
  return location === null
    ? plain(500, 'the key cannot be used')
    : { status: 302, headers: ['location', location, 'cache-control', 'no-store'], body: '' };
}

/** The page to choose an identity; its links repeat the request. */
function choose(asked: SamlAsked, fields: URLSearchParams, all: Iterable<Identity>): LocalResponse {
  const linkFor = (key: string): string => {
    const query = new URLSearchParams(fields);
    query.set('login_as', key);
    return `/saml/sso?${query.toString()}`;
  };
  const client = { clientId: asked.audience, redirectUri: asked.acsUrl };
  return { status: 200, headers: PAGE, body: loginPage('a SAML provider', client, all, linkFor) };
}

/**
 * A login requested by a service provider, or one started by the identity provider, with `sp` and `acs` in
 * place of a request.
 */
function askedOf(fields: URLSearchParams): SamlAsked | string {
  const relayState = fields.get('RelayState');
  const encoded = fields.get('SAMLRequest');
  if (encoded !== null) return readLoginRequest(encoded, relayState);
  const audience = fields.get('sp');
  const acsUrl = fields.get('acs');
  if (audience === null || acsUrl === null || !/^https?:\/\//.test(acsUrl) || !URL.canParse(acsUrl)) {
    return 'SAMLRequest is missing; for a login started by the identity provider, sp and acs are needed';
  }
  const nameIdFormat = formatWanted(fields.get('format') ?? undefined);
  return { audience, acsUrl, requestId: null, nameIdFormat, relayState };
}

function quick(response: LocalResponse): { readonly response: LocalResponse; readonly isSlow: boolean } {
  return { response, isSlow: false };
}

function plain(status: number, message: string): LocalResponse {
  return { status, headers: ['content-type', 'text/plain; charset=utf-8'], body: `${message}\n` };
}

function metadataOf(origin: string, entityId: string, identity: SigningIdentity): string {
  const at = (path: string, binding: string) => ({ Binding: binding, Location: `${origin}/saml/${path}` });
  const written = element(
    'md:EntityDescriptor',
    { entityID: entityId },
    element(
      'md:IDPSSODescriptor',
      { protocolSupportEnumeration: PROTOCOL },
      element('md:KeyDescriptor', { use: 'signing' }, keyInfo(identity)),
      element('md:SingleLogoutService', at('slo', BINDING.redirect)),
      element('md:SingleSignOnService', at('sso', BINDING.redirect)),
      element('md:SingleSignOnService', at('sso', BINDING.post)),
    ),
  );
  return `${canonical(written)}\n`;
}
