import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AlternativeName,
  type CertificateRequest,
  type IssuedCertificate,
  issueCertificate,
} from '../../../src/crypto/issue_certificate.ts';

export interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** The purpose of a certificate. */
type Use = Pick<CertificateRequest, 'purposes' | 'names'>;

export interface TestAuthority extends Pair {
  readonly issue: (name: string, use: Use, days?: number) => Pair;
  /** An authority below this one. */
  readonly below: (name: string) => TestAuthority;
}

const DAY_MS = 86_400_000;

export function testAuthority(name: string): TestAuthority {
  const made = issueCertificate({ ...common(name, 30), authority: { pathLength: null } });
  return authorityOf(mkdtempSync(join(tmpdir(), 'edgeproof-tls-')), name, made);
}

function common(commonName: string, days: number): CertificateRequest {
  const nowMs = Date.now();
  // An expired certificate was valid for a day.
  const notBeforeMs = Math.min(nowMs, nowMs + days * DAY_MS) - DAY_MS;
  return { commonName, key: 'p256', notBeforeMs, notAfterMs: nowMs + days * DAY_MS };
}

function authorityOf(folder: string, own: string, issuer: IssuedCertificate): TestAuthority {
  return {
    ...written(folder, own, issuer),
    issue: (name, use, days = 10) =>
      written(
        folder,
        name,
        issueCertificate({ ...common(name, days), organization: 'Acme', ...use, issuer }),
      ),
    below: (name) =>
      authorityOf(
        folder,
        name,
        issueCertificate({ ...common(name, 10), authority: { pathLength: null }, issuer }),
      ),
  };
}

function written(folder: string, name: string, { certificatePem, privateKeyPem }: IssuedCertificate): Pair {
  const file = join(folder, name.replaceAll(/[^\w.-]/g, '_'));
  const pair = {
    cert: certificatePem,
    key: privateKeyPem,
    certFile: `${file}.pem`,
    keyFile: `${file}.key`,
  };
  writeFileSync(pair.certFile, pair.cert);
  writeFileSync(pair.keyFile, pair.key);
  return pair;
}

const dns = (value: string): AlternativeName => ({ type: 'dns', value });

export const SERVER = (...names: readonly string[]): Use => ({
  purposes: ['serverAuth'],
  names: names.map(dns),
});
export const CLIENT: Use = {
  purposes: ['clientAuth'],
  names: [dns('robot.test'), { type: 'email', value: 'robot@acme.test' }],
};
