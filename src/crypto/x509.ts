import type { CertificateExtension } from './certificate_facts.ts';
import { type NameAttribute, alternativeNames, certificateParts } from './certificate_parts.ts';
import { type PublicKey, RSA_MINIMUM_BITS } from './keys.ts';
import { DER, type DerElement, derBits, derChildren, derIdentifier, readDer } from './der.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** Contents of a certificate (RFC 5280). Missing texts are empty. */
export interface CertificateFacts {
  readonly subject: Readonly<Record<'CN' | 'O' | 'OU' | 'L' | 'ST' | 'C', string>>;
  readonly issuerCommonName: string;
  readonly serialNumber: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isAuthority: boolean;
  readonly keyUsages: readonly string[];
  readonly extendedKeyUsages: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ips: readonly string[];
  /** `rsa`, `ecdsa` or `ed25519`; other keys by Node's name. */
  readonly keyType: string;
}

/** Why a text is not a single certificate. */
export type PemProblem = 'not_pem' | 'several' | 'other_kind' | 'headers' | 'unreadable';

const BLOCK = /-----BEGIN ([^-]+)-----\r?\n([\s\S]*?)-----END \1-----/g;

/** Parses a PEM text (RFC 7468) with exactly one certificate. */
export function readCertificate(pem: string): CertificateFacts | { readonly problem: PemProblem } {
  const blocks = [...pem.matchAll(BLOCK)];
  if (blocks.length === 0) return { problem: 'not_pem' };
  if (blocks.length > 1) return { problem: 'several' };
  const [, label, body] = blocks[0]!;
  if (label !== 'CERTIFICATE') return { problem: 'other_kind' };
  // Encapsulated headers of RFC 1421; certificates have none.
  if (body!.includes(':')) return { problem: 'headers' };
  return factsOf(blocks[0]![0]);
}

/** Parses the first certificate of a chain, which is the one for its private key. */
export function readCertificateChain(pem: string): CertificateFacts | { readonly problem: PemProblem } {
  const blocks = [...pem.matchAll(BLOCK)];
  if (blocks.length === 0) return { problem: 'not_pem' };
  if (blocks.some(([, label]) => label !== 'CERTIFICATE')) return { problem: 'other_kind' };
  return factsOf(blocks[0]![0]);
}

/** Whether a private key belongs to the first certificate. */
export function isKeyOf(certificatePem: string, keyPem: string): boolean {
  try {
    return new (nodeCrypto().X509Certificate)(certificatePem).checkPrivateKey(
      nodeCrypto().createPrivateKey(keyPem),
    );
  } catch {
    return false;
  }
}

/** Whether a private key in PEM cannot be read without a passphrase (RFC 7468 §11, RFC 1421 §4.6.1.1). */
export function isEncryptedKey(keyPem: string): boolean {
  return /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m.test(keyPem);
}

function factsOf(pem: string): CertificateFacts | { readonly problem: PemProblem } {
  try {
    const certificate = new (nodeCrypto().X509Certificate)(pem);
    const parts = certificateParts(certificate.raw);
    if (parts === null || parts.extensions === null) return { problem: 'unreadable' };
    const { subject, issuer } = parts;
    const extensions = byIdentifier(parts.extensions);
    const names = alternativeNames(certificate.subjectAltName ?? '');
    const kind = certificate.publicKey.asymmetricKeyType ?? '';
    return {
      subject: {
        CN: nameIn(subject, 'CN'),
        O: nameIn(subject, 'O'),
        OU: nameIn(subject, 'OU'),
        L: nameIn(subject, 'L'),
        ST: nameIn(subject, 'ST'),
        C: nameIn(subject, 'C'),
      },
      issuerCommonName: nameIn(issuer, 'CN'),
      serialNumber: certificate.serialNumber.toLowerCase(),
      notBeforeMs: certificate.validFromDate.getTime(),
      notAfterMs: certificate.validToDate.getTime(),
      isAuthority: certificate.ca,
      keyUsages: keyUsagesOf(extensions),
      extendedKeyUsages: extendedKeyUsagesOf(extensions),
      dnsNames: names.filter(([type]) => type === 'DNS').map(([, name]) => name),
      ips: names.filter(([type]) => type === 'IP Address').map(([, name]) => name),
      keyType: kind === 'ec' ? 'ecdsa' : kind,
    };
  } catch {
    return { problem: 'unreadable' };
  }
}

/** The first value of an attribute of a name. */
function nameIn(name: readonly NameAttribute[], attribute: string): string {
  return name.find(([type]) => type === attribute)?.[1] ?? '';
}

const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';

/** Key usages by bit (RFC 5280 §4.2.1.3). */
const KEY_USAGES = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

/** Purposes of RFC 5280 §4.2.1.12; others keep their object identifier. */
const PURPOSES: Readonly<Record<string, string>> = {
  '2.5.29.37.0': 'anyExtendedKeyUsage',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'OCSPSigning',
};

/** Contents of the well-formed extensions, by identifier. */
function byIdentifier(
  extensions: readonly CertificateExtension[],
): ReadonlyMap<string, readonly DerElement[]> {
  const found = new Map<string, readonly DerElement[]>();
  for (const { id, value } of extensions) {
    const read = readDer(value);
    if (read !== null) found.set(id, read);
  }
  return found;
}

function keyUsagesOf(extensions: ReadonlyMap<string, readonly DerElement[]>): string[] {
  const bits = derBits(extensions.get(KEY_USAGE)?.[0]) ?? [];
  return bits.flatMap((bit) => KEY_USAGES[bit] ?? []);
}

function extendedKeyUsagesOf(extensions: ReadonlyMap<string, readonly DerElement[]>): string[] {
  const purposes = derChildren(extensions.get(EXTENDED_KEY_USAGE)?.[0], DER.sequence) ?? [];
  return purposes.flatMap((purpose) => {
    const number = derIdentifier(purpose);
    return number === null ? [] : [PURPOSES[number] ?? number];
  });
}

/** An RSA key with data of its certificate. */
export interface RsaCertificate {
  readonly subject: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly key: PublicKey;
}

/** Subject of the first certificate of a PEM text, with any key type; null if it is unreadable. */
export function certificateSubject(pem: string): string | null {
  try {
    return new (nodeCrypto().X509Certificate)(pem).subject;
  } catch {
    return null;
  }
}

/** Parses the first certificate of a PEM text if its key is RSA and long enough; null otherwise. */
export function readRsaCertificate(pem: string): RsaCertificate | null {
  try {
    const certificate = new (nodeCrypto().X509Certificate)(pem);
    const key = certificate.publicKey;
    if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_MINIMUM_BITS)
      return null;
    return {
      subject: certificate.subject,
      fromMs: certificate.validFromDate.getTime(),
      untilMs: certificate.validToDate.getTime(),
      key,
    };
  } catch {
    return null;
  }
}
