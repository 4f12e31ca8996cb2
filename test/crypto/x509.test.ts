import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDer } from '../../src/crypto/der.ts';
import { isKeyOf, readCertificate, readCertificateChain } from '../../src/crypto/x509.ts';
import { someAuthority, selfSigned } from '../control/certificates.ts';
import { hasProgram } from '../peers.ts';
import { sized } from '../random.ts';

const hasOpenssl = hasProgram('openssl', ['version'], 'certificates beside openssl');

/** Runs openssl with some input. */
function openssl(args: readonly string[], input = ''): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
}

/** A certificate that openssl has signed itself, with the given extensions and subject. */
function makeCertificate(
  extensions: readonly string[],
  subject = '/CN=Test authority',
  kind = 'ec',
): { readonly pem: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-certificate-'));
  try {
    const key = join(folder, 'key.pem');
    const pem = join(folder, 'cert.pem');
    const algorithm = kind === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : [kind];
    openssl([
      ...'req -x509 -utf8 -nodes -days 30 -config /dev/null -newkey'.split(' '),
      ...algorithm,
      ...`-keyout ${key} -out ${pem} -subj`.split(' '),
      subject,
      ...extensions.flatMap((extension) => ['-addext', extension]),
    ]);
    return { pem: readFileSync(pem, 'utf8'), key: readFileSync(key, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Usages as openssl prints them, and as RFC 5280 calls them. */
// table: names
const NAMES: Readonly<Record<string, string>> = {
  'Digital Signature': 'digitalSignature',
  'Non Repudiation': 'nonRepudiation',
  'Key Encipherment': 'keyEncipherment',
  'Data Encipherment': 'dataEncipherment',
  'Key Agreement': 'keyAgreement',
  'Certificate Sign': 'keyCertSign',
  'CRL Sign': 'cRLSign',
  'Encipher Only': 'encipherOnly',
  'Decipher Only': 'decipherOnly',
  'TLS Web Server Authentication': 'serverAuth',
  'TLS Web Client Authentication': 'clientAuth',
  'Code Signing': 'codeSigning',
  'E-mail Protection': 'emailProtection',
  'Time Stamping': 'timeStamping',
  'OCSP Signing': 'OCSPSigning',
  'Any Extended Key Usage': 'anyExtendedKeyUsage',
};

/** What openssl says of an extension. */
function printed(pem: string, extension: string): string[] {
  const text = openssl(['x509', '-noout', '-ext', extension], pem);
  const [, line = ''] = text.split('\n');
  return line.trim() === ''
    ? []
    : line
        .trim()
        .split(', ')
        .map((name) => NAMES[name] ?? name);
}

const EXTENSIONS = [
  [],
  ['keyUsage=digitalSignature'],
  ['keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign,cRLSign'],
  ['keyUsage=nonRepudiation,dataEncipherment'],
  ['keyUsage=keyAgreement,decipherOnly'],
  ['keyUsage=keyAgreement,encipherOnly,decipherOnly', 'extendedKeyUsage=serverAuth'],
  ['extendedKeyUsage=critical,serverAuth,clientAuth,codeSigning,emailProtection,timeStamping,OCSPSigning'],
  ['extendedKeyUsage=anyExtendedKeyUsage,1.3.6.1.4.1.311.20.2.2'],
  ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=keyCertSign'],
];

describe.skipIf(!hasOpenssl)('usages of a key', () => {
  it.each(EXTENSIONS.map((each) => [each] as const))('%j agree with openssl', (extensions) => {
    const { pem } = makeCertificate(extensions);
    const facts = readCertificate(pem);
    if ('problem' in facts) throw new Error(facts.problem);
    expect(facts.keyUsages).toEqual(
      extensions.some((each) => each.startsWith('keyUsage')) ? printed(pem, 'keyUsage') : [],
    );
    const isExtended = extensions.some((each) => each.startsWith('extendedKeyUsage'));
    const expected = isExtended ? printed(pem, 'extendedKeyUsage') : [];
    const numbered = expected.map((name) =>
      name === 'Microsoft Smartcard Login' ? '1.3.6.1.4.1.311.20.2.2' : name,
    );
    expect(facts.extendedKeyUsages).toEqual(numbered);
  });
});

describe.skipIf(!hasOpenssl)('a certificate', () => {
  it('agrees with openssl', () => {
    const subject = '/C=DE/ST=Berlin/L=Mitte/O=Example GmbH/OU=Edge/CN=Ümlaut Co, "Ltd"';
    const names = 'subjectAltName=DNS:a.test,DNS:*.b.test,IP:192.0.2.1,IP:2001:db8::1';
    const { pem, key } = makeCertificate(['basicConstraints=CA:TRUE', names], subject, 'rsa:2048');
    const facts = readCertificate(pem);
    if ('problem' in facts) throw new Error(facts.problem);
    expect(facts.subject).toEqual({
      C: 'DE',
      ST: 'Berlin',
      L: 'Mitte',
      O: 'Example GmbH',
      OU: 'Edge',
      CN: 'Ümlaut Co, "Ltd"',
    });
    expect(facts).toMatchObject({ isAuthority: true, keyType: 'rsa', issuerCommonName: 'Ümlaut Co, "Ltd"' });
    expect(facts.dnsNames).toEqual(['a.test', '*.b.test']);
    expect(facts.ips).toEqual(['192.0.2.1', '2001:DB8:0:0:0:0:0:1']);
    const dates = openssl(['x509', '-noout', '-startdate', '-enddate'], pem);
    const [, from, until] = /notBefore=(.*)\nnotAfter=(.*)\n/.exec(dates)!;
    expect([facts.notBeforeMs, facts.notAfterMs]).toEqual([Date.parse(from!), Date.parse(until!)]);
    expect(openssl(['x509', '-noout', '-serial'], pem).trim().toLowerCase()).toBe(
      `serial=${facts.serialNumber}`,
    );
    expect(isKeyOf(pem, key)).toBe(true);
    expect(isKeyOf(pem, someAuthority().key)).toBe(false);
    expect(isKeyOf(pem, 'nothing')).toBe(false);
  });
});

describe('a PEM text', () => {
  it.each([
    ['not_pem', () => 'hello'],
    ['several', () => someAuthority().pem.repeat(2)],
    ['other_kind', () => someAuthority().key],
    ['headers', () => someAuthority().pem.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n\n')],
    ['unreadable', () => '-----BEGIN CERTIFICATE-----\nMAo=\n-----END CERTIFICATE-----\n'],
  ])('is refused: %s', (problem, text) => {
    expect(readCertificate(text())).toEqual({ problem });
  });

  it('of a chain is read from its first certificate', () => {
    const leaf = selfSigned('leaf');
    const facts = readCertificateChain(leaf.pem + someAuthority().pem);
    expect('subject' in facts && facts.subject.CN).toBe('leaf');
    expect(readCertificateChain(leaf.pem + leaf.key)).toEqual({ problem: 'other_kind' });
  });
});

describe('DER', () => {
  it.each([
    ['a length that is too long', '04820001ff'],
    ['a length in the long form that is short', '048101ff'],
    ['an indefinite length', '3080040100'],
    ['a tag of several octets', '1f8101 00'.replace(' ', '')],
    ['less than it says', '0405ffff'],
  ])('%s is refused', (_name, hex) => {
    expect(readDer(Buffer.from(hex, 'hex'))).toBeNull();
  });

  it('never throws, and parsed elements cover all bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const elements = readDer(bytes);
        if (elements === null) return;
        const covered = elements.reduce((sum, { contents }) => sum + contents.length, 0);
        expect(covered).toBeLessThanOrEqual(bytes.length);
      }),
      sized(2_000, 6),
    );
  });
});
