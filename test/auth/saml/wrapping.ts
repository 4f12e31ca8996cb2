import {
  type Parts,
  XMLNS,
  assertionXml,
  cut,
  responseXml,
  signed,
  withSignedAssertion,
  withSignedResponse,
} from './forge.ts';

/** Documents with the signed part around, beside or below an unsigned one, whose user is `evil`. */
export interface Attack {
  readonly name: string;
  readonly reason: string;
  readonly xml: string;
}

const EVIL: Partial<Parts> = { nameId: 'evil', assertionId: '_evil' };
const SIGNED_ASSERTION = withSignedAssertion();
const SIGNED_RESPONSE = withSignedResponse();
const SIGNATURE = cut(SIGNED_ASSERTION, 'Signature');
const RESPONSE_SIGNATURE = cut(SIGNED_RESPONSE, 'Signature');
/** The signed assertion with its signature, and without. */
const ORIGINAL = cut(SIGNED_ASSERTION, 'saml:Assertion');
const BARE = ORIGINAL.replace(SIGNATURE, '');
const evil = (inside = ''): string =>
  assertionXml(EVIL).replace('</saml:Assertion>', `${inside}</saml:Assertion>`);
const behindIssuer = (xml: string, inside: string): string =>
  xml.replace('</saml:Issuer>', `</saml:Issuer>${inside}`);
const withObject = (content: string): string =>
  SIGNATURE.replace('</Signature>', `<Object>${content}</Object></Signature>`);
const evilResponse = (inside: string): string =>
  responseXml({ ...EVIL, responseId: '_evilresponse' }).replace('<samlp:Status>', `${inside}<samlp:Status>`);

/** XSW 1 to 8 as they are numbered since "On Breaking SAML" (USENIX Security 2012), 9 to 12 for the holes that remain. */
// table: wrapping
export const WRAPPING: readonly Attack[] = [
  {
    name: 'XSW 1: the signed response inside of the signature of a forged one',
    reason: 'assertions_several',
    xml: evilResponse(
      RESPONSE_SIGNATURE.replace(
        '</Signature>',
        `<Object>${SIGNED_RESPONSE.replace(RESPONSE_SIGNATURE, '')}</Object></Signature>`,
      ),
    ),
  },
  {
    name: 'XSW 2: the signed response beside its signature in a forged one',
    reason: 'assertions_several',
    xml: evilResponse(SIGNED_RESPONSE.replace(RESPONSE_SIGNATURE, '') + RESPONSE_SIGNATURE),
  },
  {
    name: 'XSW 3: a forged assertion before the signed one',
    reason: 'assertions_several',
    xml: responseXml({}, evil() + ORIGINAL),
  },
  {
    name: 'XSW 3b: a forged assertion behind the signed one',
    reason: 'assertions_several',
    xml: responseXml({}, ORIGINAL + evil()),
  },
  {
    name: 'XSW 4: the signed assertion inside of a forged one',
    reason: 'assertions_several',
    xml: responseXml({}, evil(ORIGINAL)),
  },
  {
    name: 'XSW 5: a forged assertion takes the signature, the signed one goes behind',
    reason: 'assertions_several',
    xml: responseXml({}, behindIssuer(evil(), SIGNATURE) + BARE),
  },
  {
    name: 'XSW 6: the signed assertion inside of the signature of a forged one',
    reason: 'assertions_several',
    xml: responseXml({}, behindIssuer(evil(), SIGNATURE.replace('</Signature>', `${BARE}</Signature>`))),
  },
  {
    name: 'XSW 7: a forged assertion in extensions',
    reason: 'assertions_several',
    xml: responseXml({}, ORIGINAL).replace(
      '<samlp:Status>',
      `<samlp:Extensions>${evil()}</samlp:Extensions><samlp:Status>`,
    ),
  },
  {
    name: 'XSW 8: the signed assertion in an object of the signature of a forged one',
    reason: 'assertions_several',
    xml: responseXml({}, behindIssuer(evil(), withObject(BARE))),
  },
  {
    name: 'XSW 9: the signed assertion in the detail of the status',
    reason: 'assertions_several',
    xml: responseXml({ statusDetail: `<samlp:StatusDetail>${ORIGINAL}</samlp:StatusDetail>` }, evil()),
  },
  {
    name: 'XSW 10: the signed assertion as advice of a forged one',
    reason: 'assertions_several',
    xml: responseXml(
      {},
      assertionXml(EVIL).replace(
        '<saml:AuthnStatement',
        `<saml:Advice>${ORIGINAL}</saml:Advice><saml:AuthnStatement`,
      ),
    ),
  },
  {
    name: 'XSW 11: the signed assertion as the value of an attribute',
    reason: 'assertions_several',
    xml: responseXml(
      {},
      assertionXml({
        ...EVIL,
        attributes: `<saml:AttributeStatement><saml:Attribute Name="a"><saml:AttributeValue>${ORIGINAL}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>`,
      }),
    ),
  },
  {
    name: 'XSW 12: the signed assertion in the confirmation of a forged one',
    reason: 'assertions_several',
    xml: responseXml(
      {},
      assertionXml(EVIL).replace('</saml:SubjectConfirmation>', `${ORIGINAL}</saml:SubjectConfirmation>`),
    ),
  },
  {
    name: 'a forged assertion of the same id',
    reason: 'id_repeated',
    xml: responseXml({}, assertionXml({ nameId: 'evil' }) + ORIGINAL),
  },
  {
    name: 'a forged assertion in a namespace of its own',
    reason: 'assertions_several',
    xml: responseXml({}, `<evil:Assertion xmlns:evil="urn:evil" ID="_evil"/>${ORIGINAL}`),
  },
  {
    name: 'only a forged assertion in another namespace',
    reason: 'assertion_misplaced',
    xml: responseXml(
      {},
      assertionXml(EVIL)
        .replaceAll('saml:Assertion', 'evil:Assertion')
        .replace('<evil:Assertion ', '<evil:Assertion xmlns:evil="urn:evil" '),
    ),
  },
  {
    name: 'the signed assertion one level deeper',
    reason: 'assertion_misplaced',
    xml: responseXml({}, `<samlp:Wrapper>${ORIGINAL}</samlp:Wrapper>`),
  },
  {
    name: 'the signature moved up into the response',
    reason: 'reference_elsewhere',
    xml: behindIssuer(responseXml({}, BARE), SIGNATURE),
  },
  {
    name: 'the signature beside the assertion',
    reason: 'signature_misplaced',
    xml: responseXml({}, BARE + SIGNATURE.replace('<Signature', '<x><Signature') + '</x>'),
  },
  {
    name: 'a second signature in a value',
    reason: 'signature_misplaced',
    xml: responseXml({}, ORIGINAL.replace('staff', SIGNATURE)),
  },
  {
    name: 'a second signature in the assertion',
    reason: 'signatures_several',
    xml: responseXml({}, ORIGINAL.replace(SIGNATURE, SIGNATURE + SIGNATURE)),
  },
  {
    name: 'an object in the signature',
    reason: 'signature_object',
    xml: responseXml({}, ORIGINAL.replace(SIGNATURE, withObject('x'))),
  },
  {
    name: 'a response inside of a response',
    reason: 'unexpected_element',
    xml: responseXml({}, `${ORIGINAL}<samlp:Response ID="_inner"/>`),
  },
  {
    name: 'a logout response in place of a response',
    reason: 'not_a_response',
    xml: signed(
      `<samlp:LogoutResponse ${XMLNS} ID="_l" Version="2.0" IssueInstant="2026-01-01T12:00:00Z"><saml:Issuer>x</saml:Issuer></samlp:LogoutResponse>`,
      'LogoutResponse',
    ),
  },
  { name: 'the assertion alone', reason: 'not_a_response', xml: ORIGINAL },
  {
    name: 'an encrypted assertion',
    reason: 'assertion_encrypted',
    xml: responseXml({}, '<saml:EncryptedAssertion/>'),
  },
  {
    name: 'an encrypted assertion beside the signed one',
    reason: 'assertion_encrypted',
    xml: responseXml({}, `${ORIGINAL}<saml:EncryptedAssertion/>`),
  },
  { name: 'no assertion', reason: 'assertion_missing', xml: responseXml({}, '') },
  { name: 'nothing signed', reason: 'unsigned', xml: responseXml() },
  {
    name: 'extensions behind the status',
    reason: 'unexpected_element',
    xml: responseXml({}, ORIGINAL).replace('</samlp:Status>', '</samlp:Status><samlp:Extensions/>'),
  },
  {
    name: 'two extensions',
    reason: 'unexpected_element',
    xml: responseXml({}, ORIGINAL).replace(
      '<samlp:Status>',
      '<samlp:Extensions/><samlp:Extensions/><samlp:Status>',
    ),
  },
  {
    name: 'extensions of another namespace',
    reason: 'unexpected_element',
    xml: responseXml({}, ORIGINAL).replace('<samlp:Status>', '<saml:Extensions/><samlp:Status>'),
  },
  {
    name: 'the signature of the assertion in extensions',
    reason: 'signature_misplaced',
    xml: responseXml({}, BARE).replace(
      '<samlp:Status>',
      `<samlp:Extensions>${SIGNATURE}</samlp:Extensions><samlp:Status>`,
    ),
  },
  {
    name: 'an unknown element behind the assertion',
    reason: 'unexpected_element',
    xml: responseXml({}, `${ORIGINAL}<x/>`),
  },
  {
    name: 'text beside the assertion',
    reason: 'unexpected_element',
    xml: responseXml({}, `${ORIGINAL}text`),
  },
  {
    name: 'the status before the issuer',
    reason: 'unexpected_element',
    xml: responseXml({ responseIssuer: null }, ORIGINAL).replace(
      '</samlp:Status>',
      '</samlp:Status><saml:Issuer>x</saml:Issuer>',
    ),
  },
];
