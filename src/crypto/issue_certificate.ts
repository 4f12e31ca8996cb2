import { type CertificateParts, certificateParts } from './certificate_parts.ts';
import { DER, readDer } from './der.ts';
import { writeBits, writeDer, writeIdentifier, writePositive } from './der_writer.ts';
import type { PrivateKey, PublicKey } from './keys.ts';
import { secretBytes } from './random.ts';
import { nodeCrypto } from '../loading/builtins.ts';

/** A certificate and its private key, both as PEM. */
export interface IssuedCertificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

export type AlternativeName =
  | { readonly type: 'dns' | 'email'; readonly value: string }
  | { readonly type: 'ip'; readonly bytes: Uint8Array };

/** Contents of a certificate to issue (RFC 5280 §4.1). */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organization?: string;
  readonly key: 'rsa' | 'p256';
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Maximum number of authorities below this one; null: no limit. Absent: it is not an authority. */
  readonly authority?: { readonly pathLength: number | null };
  readonly purposes?: readonly ('serverAuth' | 'clientAuth')[];
  readonly names?: readonly AlternativeName[];
  /** Absent: the certificate is self-signed. */
  readonly issuer?: IssuedCertificate;
}

const RSA = { modulusLength: 2048 } as const;
const EC = { namedCurve: 'P-256' } as const;
const SERIAL_BYTES = 16;
const KEY_ID_BYTES = 20;
const VERSION_3 = writeDer(0xa0, writePositive(Uint8Array.of(2)));

const ID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  purposes: '2.5.29.37',
} as const;

// table: extended key usages (RFC 5280 §4.2.1.12)
const PURPOSES = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const;

/** Bits of the key usage (RFC 5280 §4.2.1.3). */
const DIGITAL_SIGNATURE = 0;
const KEY_CERT_SIGN = 5;
const CRL_SIGN = 6;

/** Generates a key pair and its certificate, signed with SHA-256. An RSA key takes about 100 ms. */
export function issueCertificate(request: CertificateRequest): IssuedCertificate {
  const { privateKey } =
    request.key === 'rsa'
      ? nodeCrypto().generateKeyPairSync('rsa', RSA)
      : nodeCrypto().generateKeyPairSync('ec', EC);
  return certified(request, privateKey);
}

/** Like `issueCertificate`, but generates the key on another thread. */
export function issueCertificateAside(request: CertificateRequest): Promise<IssuedCertificate> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, _publicKey: PublicKey, privateKey: PrivateKey): void => {
      if (error !== null) reject(error);
      else resolve(certified(request, privateKey));
    };
    if (request.key === 'rsa') nodeCrypto().generateKeyPair('rsa', RSA, done);
    else nodeCrypto().generateKeyPair('ec', EC, done);
  });
}

function certified(request: CertificateRequest, privateKey: PrivateKey): IssuedCertificate {
  const publicKey = nodeCrypto().createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const signer =
    request.issuer === undefined ? privateKey : nodeCrypto().createPrivateKey(request.issuer.privateKeyPem);
  return {
    certificatePem: certificateFor(request, publicKey, signer),
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

/** The certificate of a public key (SubjectPublicKeyInfo) as PEM. */
export function certificateFor(
  request: Omit<CertificateRequest, 'key'>,
  publicKey: Uint8Array,
  signer: PrivateKey,
): string {
  const issuer = request.issuer === undefined ? null : partsOf(request.issuer.certificatePem);
  const subject = nameOf(request);
  const algorithm = algorithmOf(signer);
  const content = writeDer(
    DER.sequence,
    VERSION_3,
    writePositive(secretBytes(SERIAL_BYTES)),
    algorithm,
    issuer?.subjectDer ?? subject,
    writeDer(DER.sequence, timeOf(request.notBeforeMs), timeOf(request.notAfterMs)),
    subject,
    publicKey,
    writeDer(0xa3, writeDer(DER.sequence, ...extensionsOf(request, publicKey, issuer))),
  );
  const signature = writeDer(DER.bitString, Uint8Array.of(0), nodeCrypto().sign('sha256', content, signer));
  return pemOf(writeDer(DER.sequence, content, algorithm, signature));
}

function algorithmOf(key: PrivateKey): Uint8Array {
  // RFC 4055 §5 requires NULL parameters with RSA; RFC 5758 §3.2 omits them with ECDSA.
  return key.asymmetricKeyType === 'rsa'
    ? writeDer(DER.sequence, writeIdentifier('1.2.840.113549.1.1.11'), writeDer(DER.null))
    : writeDer(DER.sequence, writeIdentifier('1.2.840.10045.4.3.2'));
}

function nameOf({
  commonName,
  organization,
}: Pick<CertificateRequest, 'commonName' | 'organization'>): Uint8Array {
  return writeDer(
    DER.sequence,
    ...(organization === undefined ? [] : [namePart(ID.organization, organization)]),
    namePart(ID.commonName, commonName),
  );
}

function namePart(id: string, value: string): Uint8Array {
  const text = writeDer(DER.utf8String, utf8(value));
  return writeDer(DER.set, writeDer(DER.sequence, writeIdentifier(id), text));
}

function extensionsOf(
  { authority, purposes = [], names = [] }: Omit<CertificateRequest, 'key'>,
  publicKey: Uint8Array,
  issuer: CertificateParts | null,
): Uint8Array[] {
  const usage = authority === undefined ? [DIGITAL_SIGNATURE] : [KEY_CERT_SIGN, CRL_SIGN];
  const keyId = nodeCrypto().createHash('sha256').update(publicKey).digest().subarray(0, KEY_ID_BYTES);
  const issuerKeyId = issuer === null ? keyId : keyIdOf(issuer);
  return [
    extension(ID.basicConstraints, constraintsOf(authority), 'critical'),
    extension(ID.keyUsage, writeBits(usage), 'critical'),
    extension(ID.subjectKey, writeDer(DER.octetString, keyId)),
    ...(issuerKeyId === null
      ? []
      : [extension(ID.authorityKey, writeDer(DER.sequence, writeDer(0x80, issuerKeyId)))]),
    ...(purposes.length === 0
      ? []
      : [
          extension(
            ID.purposes,
            writeDer(DER.sequence, ...purposes.map((each) => writeIdentifier(PURPOSES[each]))),
          ),
        ]),
    ...(names.length === 0
      ? []
      : [extension(ID.alternativeNames, writeDer(DER.sequence, ...names.map(alternativeName)))]),
  ];
}

/** The default value false is omitted (RFC 5280 §4.2.1.9). */
function constraintsOf(authority: CertificateRequest['authority']): Uint8Array {
  if (authority === undefined) return writeDer(DER.sequence);
  const limit = authority.pathLength === null ? [] : [writePositive(Uint8Array.of(authority.pathLength))];
  return writeDer(DER.sequence, writeDer(DER.boolean, Uint8Array.of(0xff)), ...limit);
}

/** The subject key identifier in a certificate. */
function keyIdOf({ extensions }: CertificateParts): Uint8Array | null {
  const value = extensions?.find(({ id }) => id === ID.subjectKey)?.value;
  return value === undefined ? null : (readDer(value)?.[0]?.contents ?? null);
}

function partsOf(pem: string): CertificateParts {
  const parts = certificateParts(new (nodeCrypto().X509Certificate)(pem).raw);
  if (parts === null) throw new TypeError("the issuer's certificate is malformed");
  return parts;
}

function extension(id: string, value: Uint8Array, critical?: 'critical'): Uint8Array {
  const mark = critical === undefined ? [] : [writeDer(DER.boolean, Uint8Array.of(0xff))];
  return writeDer(DER.sequence, writeIdentifier(id), ...mark, writeDer(DER.octetString, value));
}

/** GeneralName (RFC 5280 §4.2.1.6). */
function alternativeName(name: AlternativeName): Uint8Array {
  if (name.type === 'ip') return writeDer(0x87, name.bytes);
  return writeDer(name.type === 'email' ? 0x81 : 0x82, utf8(name.value));
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050 on; to the second. */
function timeOf(atMs: number): Uint8Array {
  const digits = new Date(atMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? writeDer(DER.utcTime, utf8(digits.slice(2)))
    : writeDer(DER.generalizedTime, utf8(digits));
}

function pemOf(der: Uint8Array): string {
  const lines = Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

/** A key pair with the certificate of its public key. */
export type SigningIdentity = IssuedCertificate;

const LIFE_MS = 3_650 * 86_400_000;

/**
 * Generates an RSA key with a self-signed certificate, valid for ten years from `nowMs`, for signing
 * messages.
 */
export function newSigningIdentity(commonName: string, nowMs: number): SigningIdentity {
  return issueCertificate({ commonName, key: 'rsa', notBeforeMs: nowMs, notAfterMs: nowMs + LIFE_MS });
}
