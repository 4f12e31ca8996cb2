import { writeInstant } from '../datetime/texts.ts';
import { type Signer, type Written, canonical, element, withSignature } from '../auth/saml/canonical.ts';
import { UNSPECIFIED } from '../auth/saml/name_id.ts';
import type { Identity } from './identities.ts';

/** What a response of the development provider is for. */
export interface SamlAsked {
  /** Entity id and assertion consumer service of the service provider. */
  readonly audience: string;
  readonly acsUrl: string;
  /** Null for a login that the identity provider starts. */
  readonly requestId: string | null;
  readonly nameIdFormat: string;
  readonly relayState: string | null;
}

const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const LIFE_MS = 300_000;
const HOUR_MS = 3_600_000;

/**
 * The provider's response for an identity, as canonical XML with a signed assertion, including the configured
 * fault. `newId` makes the ids of response and assertion. Null if the key cannot be read.
 */
export function samlResponse(
  identity: Identity,
  asked: SamlAsked,
  issuer: string,
  nowMs: number,
  newId: () => string,
  signers: { readonly right: Signer; readonly wrong: Signer },
): { readonly xml: string; readonly assertion: string } | null {
  const { misbehave, active } = identity;
  const atMs = misbehave === 'issued_in_future' ? nowMs + HOUR_MS : nowMs;
  const message = misbehave === 'wrong_issuer' ? 'https://somebody-else.invalid/' : issuer;
  const isDenied = misbehave === 'denied' || !active;
  const bare = isDenied ? null : assertionOf(identity, asked, message, atMs, newId());
  const signer = misbehave === 'bad_signature' ? signers.wrong : signers.right;
  const signed = bare === null || misbehave === 'unsigned' ? bare : withSignature(bare, signer);
  if (bare !== null && signed === null) return null;
  const failed = element('samlp:StatusCode', { Value: `${STATUS}AuthnFailed` });
  const code = isDenied
    ? element('samlp:StatusCode', { Value: `${STATUS}Responder` }, failed)
    : element('samlp:StatusCode', { Value: `${STATUS}Success` });
  const response = element(
    'samlp:Response',
    {
      ID: newId(),
      Version: '2.0',
      IssueInstant: writeInstant(atMs),
      Destination: asked.acsUrl,
      InResponseTo: answersOf(identity, asked),
    },
    element('saml:Issuer', {}, message),
    element('samlp:Status', {}, code),
    signed,
  );
  return { xml: canonical(response), assertion: bare === null ? '' : canonical(bare) };
}

function answersOf({ misbehave }: Identity, { requestId }: SamlAsked): string | undefined {
  if (requestId === null) return undefined;
  return misbehave === 'wrong_nonce' ? '_another' : requestId;
}

function assertionOf(
  identity: Identity,
  asked: SamlAsked,
  issuer: string,
  atMs: number,
  id: string,
): Written {
  const { misbehave } = identity;
  const fromMs = misbehave === 'expired' || misbehave === 'issued_long_ago' ? atMs - HOUR_MS : atMs;
  const until = writeInstant(fromMs + LIFE_MS);
  const audience = misbehave === 'wrong_audience' ? 'https://somebody-else.invalid/' : asked.audience;
  const confirmation = {
    InResponseTo: answersOf(identity, asked),
    NotOnOrAfter: until,
    Recipient: asked.acsUrl,
  };
  return element(
    'saml:Assertion',
    { ID: id, Version: '2.0', IssueInstant: writeInstant(fromMs) },
    element('saml:Issuer', {}, issuer),
    element(
      'saml:Subject',
      {},
      element('saml:NameID', { Format: asked.nameIdFormat }, nameOf(identity, asked)),
      element(
        'saml:SubjectConfirmation',
        { Method: BEARER },
        element('saml:SubjectConfirmationData', confirmation),
      ),
    ),
    element(
      'saml:Conditions',
      { NotBefore: writeInstant(fromMs), NotOnOrAfter: until },
      element('saml:AudienceRestriction', {}, element('saml:Audience', {}, audience)),
    ),
    element('saml:AuthnStatement', { AuthnInstant: writeInstant(fromMs), SessionIndex: `session-${id}` }),
    element(
      'saml:AttributeStatement',
      {},
      misbehave === 'no_email' ? null : attribute('email', [identity.email]),
      attribute('displayName', [identity.name]),
      identity.groups.length === 0 ? null : attribute('groups', identity.groups),
    ),
  );
}

function nameOf({ id, email }: Identity, { nameIdFormat }: SamlAsked): string {
  return nameIdFormat.endsWith(':emailAddress') ? email : id;
}

function attribute(name: string, values: readonly string[]): Written {
  return element(
    'saml:Attribute',
    { Name: name },
    ...values.map((value) => element('saml:AttributeValue', {}, value)),
  );
}

/** The requested name id format; persistent by default. */
export function formatWanted(wanted: string | undefined): string {
  const isOpen = wanted === undefined || wanted === UNSPECIFIED;
  return isOpen ? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' : wanted;
}
