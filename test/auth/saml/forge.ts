import { signXml } from '@node-saml/node-saml/lib/xml.js';
import { verifySignatures } from '../../../src/clients/saml_signatures.ts';
import { type SigningIdentity, newSigningIdentity } from '../../../src/crypto/issue_certificate.ts';
import {
  type ResponseExpected,
  type SamlIdentity,
  validateResponse,
  openResponse,
  signatureQuestion,
} from '../../../src/auth/saml/validate_response.ts';
import { type SamlRefusal, isRefusal } from '../../../src/auth/saml/reasons.ts';

export const NOW_MS = Date.parse('2026-01-01T12:00:00Z');
export const IDP = 'https://idp.example.test/metadata';
export const SP = 'https://idp.service.test/saml/route';
export const ACS = `${SP}/acs`;
export const REQUEST = '_request1';
export const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

export const KEY: SigningIdentity = newSigningIdentity('idp', NOW_MS);
export const OTHER_KEY: SigningIdentity = newSigningIdentity('other', NOW_MS);
export const ATTACKER: SigningIdentity = newSigningIdentity('attacker', NOW_MS);

/** What a good response waits for. */
export const EXPECTED: ResponseExpected = {
  provider: { entityId: IDP, certificates: [{ pem: KEY.certificatePem }] },
  entityId: SP,
  acsUrl: ACS,
  nameIdFormat: PERSISTENT,
  authorizedGroups: [],
  request: { id: REQUEST, freshSinceMs: null },
  nowMs: NOW_MS,
  toleranceMs: 60_000,
};

export const at = (offsetMs: number): string => new Date(NOW_MS + offsetMs).toISOString();

export interface Parts {
  readonly version: string;
  readonly assertionVersion: string;
  readonly responseId: string;
  readonly assertionId: string;
  readonly issueInstant: string;
  readonly assertionIssueInstant: string;
  readonly destination: string | null;
  readonly inResponseTo: string | null;
  readonly responseIssuer: string | null;
  readonly issuer: string;
  readonly status: string;
  readonly statusDetail: string;
  readonly nameId: string;
  readonly nameIdAttributes: string;
  readonly subject: string | null;
  readonly method: string;
  readonly confirmation: string | null;
  readonly recipient: string | null;
  readonly confirmationInResponseTo: string | null;
  readonly confirmationNotBefore: string | null;
  readonly confirmationUntil: string | null;
  readonly conditions: string | null;
  readonly notBefore: string | null;
  readonly notOnOrAfter: string | null;
  readonly audience: string;
  readonly extraConditions: string;
  readonly authn: string | null;
  readonly attributes: string;
  /** What precedes and follows the assertion. */
  readonly before: string;
  readonly after: string;
}

const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';

/** A good response, part by part. */
const GOOD: Parts = {
  version: '2.0',
  assertionVersion: '2.0',
  responseId: '_response',
  assertionId: '_assertion',
  issueInstant: at(-1_000),
  assertionIssueInstant: at(-1_000),
  destination: ACS,
  inResponseTo: REQUEST,
  responseIssuer: IDP,
  issuer: IDP,
  status: `<samlp:StatusCode Value="${STATUS}Success"/>`,
  statusDetail: '',
  nameId: 'ann',
  nameIdAttributes: `Format="${PERSISTENT}"`,
  subject: null,
  method: BEARER,
  confirmation: null,
  recipient: ACS,
  confirmationInResponseTo: REQUEST,
  confirmationNotBefore: null,
  confirmationUntil: at(300_000),
  conditions: null,
  notBefore: at(-60_000),
  notOnOrAfter: at(300_000),
  audience: `<saml:AudienceRestriction><saml:Audience>${SP}</saml:Audience></saml:AudienceRestriction>`,
  extraConditions: '',
  authn: `<saml:AuthnStatement AuthnInstant="${at(-5_000)}" SessionIndex="_session"/>`,
  attributes:
    '<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>ann@example.test</saml:AttributeValue></saml:Attribute>' +
    '<saml:Attribute Name="groups"><saml:AttributeValue>staff</saml:AttributeValue><saml:AttributeValue>ops</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>',
  before: '',
  after: '',
};

const attribute = (name: string, value: string | null): string =>
  value === null ? '' : ` ${name}="${value}"`;

/** Names that every document declares on its root. */
export const XMLNS =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';

export function assertionXml(change: Partial<Parts> = {}): string {
  const p = { ...GOOD, ...change };
  const data =
    `<saml:SubjectConfirmationData${attribute('InResponseTo', p.confirmationInResponseTo)}` +
    `${attribute('NotBefore', p.confirmationNotBefore)}${attribute('NotOnOrAfter', p.confirmationUntil)}` +
    `${attribute('Recipient', p.recipient)}/>`;
  const confirmation =
    p.confirmation ?? `<saml:SubjectConfirmation Method="${p.method}">${data}</saml:SubjectConfirmation>`;
  const subject =
    p.subject ??
    `<saml:Subject><saml:NameID ${p.nameIdAttributes}>${p.nameId}</saml:NameID>${confirmation}</saml:Subject>`;
  const conditions =
    p.conditions ??
    `<saml:Conditions${attribute('NotBefore', p.notBefore)}${attribute('NotOnOrAfter', p.notOnOrAfter)}>${p.audience}${p.extraConditions}</saml:Conditions>`;
  return (
    `<saml:Assertion ${XMLNS} ID="${p.assertionId}" IssueInstant="${p.assertionIssueInstant}" Version="${p.assertionVersion}">` +
    `<saml:Issuer>${p.issuer}</saml:Issuer>${subject}${conditions}${p.authn ?? ''}${p.attributes}</saml:Assertion>`
  );
}

export function responseXml(change: Partial<Parts> = {}, assertion: string = assertionXml(change)): string {
  const p = { ...GOOD, ...change };
  const issuer = p.responseIssuer === null ? '' : `<saml:Issuer>${p.responseIssuer}</saml:Issuer>`;
  return (
    `<samlp:Response ${XMLNS}${attribute('Destination', p.destination)} ID="${p.responseId}"` +
    `${attribute('InResponseTo', p.inResponseTo)} IssueInstant="${p.issueInstant}" Version="${p.version}">` +
    `${issuer}<samlp:Status>${p.status}${p.statusDetail}</samlp:Status>${p.before}${assertion}${p.after}</samlp:Response>`
  );
}

export interface Signing {
  readonly key?: SigningIdentity;
  readonly algorithm?: 'sha1' | 'sha256' | 'sha512';
  readonly digest?: 'sha1' | 'sha256' | 'sha512';
  readonly transforms?: string[];
}

/** Signs an element by its local name, the signature behind its issuer. */
export function signed(
  xml: string,
  local: 'Assertion' | 'Response' | 'LogoutRequest' | 'LogoutResponse',
  how: Signing = {},
): string {
  const { key = KEY, algorithm = 'sha256', digest = 'sha256', transforms } = how;
  const path = local === 'Assertion' ? `//*[local-name(.)="Assertion"]` : `/*[local-name(.)="${local}"]`;
  const hasIssuer = local === 'Assertion' || /<samlp:[^>]*><saml:Issuer>/.test(xml);
  const location = hasIssuer
    ? ({ reference: `${path}/*[local-name(.)="Issuer"]`, action: 'after' } as const)
    : ({ reference: path, action: 'prepend' } as const);
  return signXml(xml, path, location, {
    privateKey: key.privateKeyPem,
    publicCert: key.certificatePem,
    signatureAlgorithm: algorithm,
    digestAlgorithm: digest,
    ...(transforms === undefined ? {} : { xmlSignatureTransforms: transforms }),
  });
}

/** A good response with its assertion signed. */
export const withSignedAssertion = (change: Partial<Parts> = {}, how: Signing = {}): string =>
  signed(responseXml(change), 'Assertion', how);

/** A good response, signed as a whole. */
export const withSignedResponse = (change: Partial<Parts> = {}, how: Signing = {}): string =>
  signed(responseXml(change), 'Response', how);

export const encode = (xml: string): string => Buffer.from(xml, 'utf8').toString('base64');

/** Takes an encoded response through the whole core, with the real library between its halves. */
export function consume(encoded: string, change: Partial<ResponseExpected> = {}): SamlIdentity | SamlRefusal {
  const expected = { ...EXPECTED, ...change };
  const opened = openResponse(encoded);
  if (isRefusal(opened)) return opened;
  return validateResponse(opened, verifySignatures(signatureQuestion(opened, expected.provider)), expected);
}

/** The element of this local name with all in it, as text; the first one. */
export function cut(xml: string, name: string): string {
  const found = new RegExp(`<${name}[ >][\\s\\S]*?</${name}>`).exec(xml)?.[0];
  if (found === undefined) throw new Error(`no ${name} in ${xml}`);
  return found;
}
