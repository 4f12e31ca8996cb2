import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { canonical, rsaSigner, withSignature } from '../../../src/auth/saml/canonical.ts';
import { logoutRequest } from '../../../src/auth/saml/messages.ts';
import { hasProgram } from '../../peers.ts';
import { CLAIMS } from './claims.ts';
import {
  ACS,
  IDP,
  KEY,
  NOW_MS,
  PERSISTENT,
  SP,
  assertionXml,
  consume,
  encode,
  responseXml,
  signed,
  withSignedAssertion,
  withSignedResponse,
} from './forge.ts';
import { TAMPERING } from './tampering.ts';
import { WRAPPING } from './wrapping.ts';

const DS = 'http://www.w3.org/2000/09/xmldsig#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const template = (id: string): string =>
  `<ds:Signature xmlns:ds="${DS}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"/>` +
  '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>' +
  `<ds:Reference URI="#${id}"><ds:Transforms><ds:Transform Algorithm="${DS}enveloped-signature"/><ds:Transform Algorithm="${EXCLUSIVE}"/></ds:Transforms>` +
  '<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue/></ds:Reference></ds:SignedInfo>' +
  '<ds:SignatureValue/><ds:KeyInfo><ds:X509Data/></ds:KeyInfo></ds:Signature>';

const hasXmlsec = hasProgram('xmlsec1', ['--version'], 'signatures of SAML beside xmlsec1');

describe.skipIf(!hasXmlsec)('xmlsec1, which shares no code with us', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgeproof-xmlsec-'));
    writeFileSync(join(folder, 'key.pem'), KEY.privateKeyPem);
    writeFileSync(join(folder, 'certificate.pem'), KEY.certificatePem);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (args: string[], xml: string): { status: number | null; out: string } => {
    writeFileSync(join(folder, 'in.xml'), xml);
    const ids = ['protocol:Response', 'assertion:Assertion', 'protocol:LogoutRequest'].flatMap((name) => [
      '--id-attr:ID',
      `urn:oasis:names:tc:SAML:2.0:${name}`,
    ]);
    const { status, stdout } = spawnSync('xmlsec1', [...args, ...ids, join(folder, 'in.xml')], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { status, out: stdout };
  };

  it.each([
    [
      'an assertion',
      () =>
        responseXml({}, assertionXml().replace('</saml:Issuer>', `</saml:Issuer>${template('_assertion')}`)),
    ],
    ['a response', () => responseXml().replace('</saml:Issuer>', `</saml:Issuer>${template('_response')}`)],
  ])('signs %s that is accepted', (_name, make) => {
    const { status, out } = run(['--sign', '--privkey-pem', 'key.pem,certificate.pem'], make());
    expect(status).toBe(0);
    expect(consume(encode(out))).toMatchObject({ nameId: 'ann', groups: ['staff', 'ops'] });
    expect(consume(encode(out.replace('>ann<', '>eve<')))).toMatchObject({ refused: 'signature_invalid' });
  });

  it('verifies what is signed here without a canonicalizer', () => {
    const head = { id: '_out', atMs: NOW_MS, destination: `${IDP}?a=1&b="<2>"`, issuer: SP };
    const user = { nameId: 'Änn & <Eve> "\t"', nameIdFormat: PERSISTENT, sessionIndex: ' s\r\n' };
    const xml = canonical(withSignature(logoutRequest(head, user), rsaSigner(KEY))!);
    const args = ['--verify', '--pubkey-cert-pem', 'certificate.pem'];
    expect(run(args, xml).status).toBe(0);
    expect(run(args, xml.replace('Eve', 'Bob')).status).not.toBe(0);
  });
});

/** Our reasons for refusing what saml2-js accepts. */
// table: differences to saml2-js 4.0.4
const EXPLAINED: Readonly<Record<string, string>> = {
  unexpected_element: 'the schema has no such element there; what is unknown could hide a copy',
  assertions_several: 'it uses the signed one; with two the intended one is ambiguous',
  assertion_misplaced: 'it takes the signed assertion from any depth',
  signed_part_differs:
    'within a signed response it asks no id of the assertion; without one it cannot be used once',
  signature_algorithm: 'it has no list of algorithms: SHA-1 is broken',
  digest_algorithm: 'it has no list of algorithms: SHA-1 is broken',
  transform: 'one form of signature is enough (Core §5.4.4), and the fewer the better',
  comment: 'libraries differ in the text around a comment (CVE-2017-11428 and similar)',
  cdata: 'no message needs it, and readers differ',
  processing_instruction: 'no message needs it, and readers differ',
  doctype: 'no message needs it, and entities come with it',
  signature_invalid: 'it accepts one valid signature; here every present signature has to be valid',
  issuer: 'it does not check the issuer: two providers with one key would be equal',
  audience: 'it accepts one matching restriction; Core §2.5.1.4 requires all of them',
  audience_missing: 'an assertion without an audience can be replayed by any other service',
  conditions_missing: 'an assertion without limits',
  condition_unknown: 'Core §2.5.1: a condition that is not understood makes the assertion invalid',
  time_malformed: 'an unreadable time limits nothing',
  recipient: 'it does not check the recipient of the confirmation',
  confirmation_data: 'Profiles §4.1.4.2 requires recipient and end',
  confirmation_expired: 'it does not look at the times of the confirmation',
  confirmation_early: 'it does not look at the times of the confirmation',
  confirmation_method: 'only a bearer may present an assertion in a browser',
  in_response_to: 'it leaves the comparison to its caller',
  destination: 'it leaves the comparison to its caller',
  issue_instant: 'it does not check',
  name_id_missing: 'with two names, or an encrypted one in addition, the user is ambiguous',
  name_id_malformed: 'a name with parts is read differently by different readers',
  name_id_encrypted: 'it continues with the attributes, without a name',
  name_id_format: 'it accepts any format; the gate configures the expected one',
  name_id_qualifier: 'it does not check the audience of the name',
  version: 'it does not check the version of the assertion',
  id_malformed: 'it does not check the form of ids',
  reference_elsewhere: 'the reference has to be to the element around it',
  key_info: 'only plain key information is read',
  signature_object: 'a signature contains no part of the message',
};

interface Saml2 {
  ServiceProvider: new (options: object) => {
    post_assert: (
      idp: object,
      options: object,
      callback: (error: unknown, response: { user: { name_id?: string } }) => void,
    ) => void;
  };
  IdentityProvider: new (options: object) => object;
}

describe('saml2-js, for comparison', () => {
  const { ServiceProvider, IdentityProvider } = createRequire(import.meta.url)('saml2-js') as Saml2;
  const own = { entity_id: SP, private_key: KEY.privateKeyPem, certificate: KEY.certificatePem };
  const sp = new ServiceProvider({ ...own, assert_endpoint: ACS, allow_unencrypted_assertion: true });
  const urls = { sso_login_url: IDP, sso_logout_url: IDP };
  const idp = new IdentityProvider({
    ...urls,
    certificates: [KEY.certificatePem],
    allow_unencrypted_assertion: true,
  });
  const ask = promisify((encoded: string, done: (error: unknown, name?: string) => void) =>
    sp.post_assert(idp, { request_body: { SAMLResponse: encoded } }, (error, response) =>
      done(error, response?.user.name_id),
    ),
  );
  const accepts = async (xml: string): Promise<boolean> => {
    try {
      await ask(encode(xml));
      return true;
    } catch {
      return false;
    }
  };
  beforeAll(() => void vi.useFakeTimers({ now: NOW_MS, toFake: ['Date'] }));
  afterAll(() => void vi.useRealTimers());

  it('accepts good responses, as we do', async () => {
    for (const xml of [
      withSignedAssertion(),
      withSignedResponse(),
      signed(withSignedAssertion(), 'Response'),
    ]) {
      expect(await ask(encode(xml))).toBe('ann');
      expect(consume(encode(xml))).toMatchObject({ nameId: 'ann' });
    }
  });

  it('each reason for which we refuse what it accepts is explained, and no other', async () => {
    const differing = new Map<string, number>();
    for (const { xml, reason } of [...WRAPPING, ...TAMPERING, ...CLAIMS]) {
      // XML that is not well-formed makes it throw outside of its callers, which ends the process.
      if (reason === 'malformed' || xml.length > 100_000) continue;
      if (await accepts(xml)) differing.set(reason, (differing.get(reason) ?? 0) + 1);
    }
    const rows = [...differing].sort(([one], [other]) => (one < other ? -1 : 1));
    expect(rows.filter(([reason]) => EXPLAINED[reason] === undefined)).toEqual([]);
    const table = rows
      .map(([reason, count]) => `| \`${reason}\` | ${count} | ${EXPLAINED[reason]!} |`)
      .join('\n');
    await expect(`${table}\n`).toMatchFileSnapshot('saml2_js.txt');
    const page = readFileSync(new URL('../../../docs/decisions/0009_saml.md', import.meta.url), 'utf8');
    expect(page).toContain(table);
    const reasons = new Set(differing.keys());
    expect(Object.keys(EXPLAINED).filter((reason) => !reasons.has(reason))).toEqual([]);
    expect(rows.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(30);
  });
});
