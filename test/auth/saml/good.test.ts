import { describe, expect, it } from 'vitest';
import {
  EXPECTED,
  KEY,
  OTHER_KEY,
  REQUEST,
  consume,
  encode,
  responseXml,
  signed,
  withSignedAssertion,
  withSignedResponse,
} from './forge.ts';

const ANN = { nameId: 'ann', email: 'ann@example.test', groups: ['staff', 'ops'], sessionIndex: '_session' };

describe('a good response', () => {
  it.each([
    ['its assertion signed', () => withSignedAssertion()],
    ['signed as a whole', () => withSignedResponse()],
    ['both signed', () => signed(withSignedAssertion(), 'Response')],
    ['signed with SHA-512', () => withSignedAssertion({}, { algorithm: 'sha512', digest: 'sha512' })],
    ['with a declaration of XML', () => `<?xml version="1.0" encoding="UTF-8"?>\n${withSignedAssertion()}`],
    ['with references to characters', () => withSignedAssertion({ nameId: '&#97;nn' })],
    ['without a destination, its assertion signed', () => withSignedAssertion({ destination: null })],
  ])('%s', (_name, make) => {
    expect(consume(encode(make()))).toMatchObject(ANN);
  });

  it('in base64 with lines', () => {
    const lines = encode(withSignedAssertion()).replaceAll(/.{76}/g, '$&\r\n');
    expect(consume(lines)).toMatchObject(ANN);
  });

  it('with texts in any script', () => {
    expect(consume(encode(withSignedAssertion({ nameId: 'Änne 名 😀' })))).toMatchObject({
      nameId: 'Änne 名 😀',
    });
  });

  it('with white space around its texts', () => {
    const attributes =
      '<saml:AttributeStatement><saml:Attribute Name="groups"><saml:AttributeValue>\n  ops\t</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>';
    expect(consume(encode(withSignedAssertion({ nameId: '\n  ann\t', attributes })))).toMatchObject({
      nameId: 'ann',
      groups: ['ops'],
    });
  });

  it.each(['\u00a0', '\u2003', '\ufeff', '\u3000'])(
    'names and groups with the space %j, which is not white space of XML, are other names and groups',
    (space) => {
      const attributes = `<saml:AttributeStatement><saml:Attribute Name="groups"><saml:AttributeValue>${space}ops</saml:AttributeValue></saml:Attribute><saml:Attribute Name="email"><saml:AttributeValue>ann@example.test${space}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>`;
      const encoded = encode(withSignedAssertion({ nameId: `ann${space}`, attributes }));
      expect(consume(encoded)).toMatchObject({
        nameId: `ann${space}`,
        email: `ann@example.test${space}`,
        groups: [`${space}ops`],
      });
      expect(consume(encoded, { authorizedGroups: ['ops'] })).toMatchObject({ refused: 'group' });
    },
  );

  it('signed with either of two keys in the metadata', () => {
    const provider = {
      ...EXPECTED.provider,
      certificates: [{ pem: OTHER_KEY.certificatePem }, { pem: KEY.certificatePem }],
    };
    expect(consume(encode(withSignedAssertion()), { provider })).toMatchObject(ANN);
    expect(consume(encode(withSignedAssertion({}, { key: OTHER_KEY })), { provider })).toMatchObject(ANN);
  });

  it('that is IdP-initiated, if that is allowed', () => {
    const xml = withSignedAssertion({ inResponseTo: null, confirmationInResponseTo: null });
    expect(consume(encode(xml), { request: null })).toMatchObject(ANN);
    expect(consume(encode(xml))).toMatchObject({ refused: 'in_response_to' });
  });

  it('for a member of an authorized group', () => {
    expect(consume(encode(withSignedAssertion()), { authorizedGroups: ['ops', 'admins'] })).toMatchObject(
      ANN,
    );
    expect(consume(encode(withSignedAssertion()), { authorizedGroups: ['admins'] })).toMatchObject({
      refused: 'group',
    });
  });

  it('with a login as recent as required', () => {
    const request = { id: REQUEST, freshSinceMs: EXPECTED.nowMs - 10_000 };
    expect(consume(encode(withSignedAssertion()), { request })).toMatchObject(ANN);
  });

  it('with one valid confirmation of several', () => {
    const stale =
      '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="https://other.test/" NotOnOrAfter="2000-01-01T00:00:00Z"/></saml:SubjectConfirmation>';
    const xml = responseXml().replace('<saml:SubjectConfirmation ', `${stale}<saml:SubjectConfirmation `);
    expect(consume(encode(signed(xml, 'Assertion')))).toMatchObject(ANN);
  });

  it.each([
    [59_999, 'ann'],
    [60_000, undefined],
  ])('%d ms after its end, with a minute of tolerance', (lateMs, nameId) => {
    const end = EXPECTED.nowMs - lateMs;
    const xml = withSignedAssertion({ notOnOrAfter: new Date(end).toISOString() });
    expect((consume(encode(xml)) as { nameId?: string }).nameId).toBe(nameId);
  });
});
