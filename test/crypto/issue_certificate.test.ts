import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type CertificateRequest, issueCertificate } from '../../src/crypto/issue_certificate.ts';
import { isKeyOf, readCertificate } from '../../src/crypto/x509.ts';
import { addressBytes, parseAddress } from '../../src/net/address.ts';

const FROM_MS = Date.parse('2026-01-02T03:04:05Z');
const UNTIL_MS = Date.parse('2050-01-01T00:00:00Z');
const VALID = { key: 'p256', notBeforeMs: FROM_MS, notAfterMs: UNTIL_MS } as const;
const ip = (text: string) => ({ type: 'ip' as const, bytes: addressBytes(parseAddress(text)!) });
const issue = (commonName: string, more: Partial<CertificateRequest>) =>
  issueCertificate({ ...VALID, commonName, ...more });

describe('an issued certificate', () => {
  const authority = issue('Authority', { authority: { pathLength: 0 } });
  const leaf = issue('Ü shop', {
    organization: 'Acme',
    purposes: ['serverAuth', 'clientAuth'],
    names: [
      { type: 'dns', value: '*.shop.test' },
      { type: 'email', value: 'a@shop.test' },
      ip('192.0.2.1'),
      ip('2001:db8::1'),
    ],
    issuer: authority,
  });

  it('contains the requested values', () => {
    expect(readCertificate(leaf.certificatePem)).toMatchObject({
      subject: { CN: 'Ü shop', O: 'Acme' },
      issuerCommonName: 'Authority',
      notBeforeMs: FROM_MS,
      notAfterMs: UNTIL_MS,
      isAuthority: false,
      keyUsages: ['digitalSignature'],
      extendedKeyUsages: ['serverAuth', 'clientAuth'],
      dnsNames: ['*.shop.test'],
      ips: ['192.0.2.1', '2001:DB8:0:0:0:0:0:1'],
      keyType: 'ecdsa',
    });
    expect(readCertificate(authority.certificatePem)).toMatchObject({
      isAuthority: true,
      keyUsages: ['keyCertSign', 'cRLSign'],
    });
    expect(isKeyOf(leaf.certificatePem, leaf.privateKeyPem)).toBe(true);
    expect(isKeyOf(leaf.certificatePem, authority.privateKeyPem)).toBe(false);
  });

  it('is signed by its issuer only', () => {
    const [own, other] = [authority, issue('Authority', { authority: { pathLength: null } })].map(
      ({ certificatePem }) => new X509Certificate(certificatePem),
    );
    const certificate = new X509Certificate(leaf.certificatePem);
    expect(certificate.checkIssued(own!)).toBe(true);
    expect(certificate.verify(own!.publicKey)).toBe(true);
    // Same name, another key: the key identifiers differ.
    expect(certificate.checkIssued(other!)).toBe(false);
    expect(certificate.verify(other!.publicKey)).toBe(false);
    expect(certificate.checkHost('a.shop.test')).toBe('*.shop.test');
    expect(certificate.checkIP('2001:db8::1')).toBe('2001:db8::1');
  });

  it('with an RSA key is self-signed without an issuer', () => {
    const certificate = new X509Certificate(issue('self', { key: 'rsa' }).certificatePem);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
  });
});
