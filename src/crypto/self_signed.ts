import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { DER } from './der.ts';
import { writeDer, writeIdentifier, writePositive } from './der_writer.ts';
import type { PrivateKey } from './keys.ts';
import { secretBytes } from './random.ts';

/** A key of one's own with the certificate that tells others of it, both PEM texts. */
export interface SigningIdentity {
  readonly privateKeyPem: string;
  readonly certificatePem: string;
}

const RSA_BITS = 2048;
const SERIAL_BYTES = 16;
const MS_PER_DAY = 86_400_000;
const LIFE_DAYS = 3_650;

const SHA256_WITH_RSA = '1.2.840.113549.1.1.11';
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';

/**
 * Makes an RSA key and a certificate for it, signed by itself (RFC 5280 §4.1), good for ten years from `nowMs`. Its
 * holder signs with it; it is no authority and names no host. Takes some 100 ms.
 */
export function newSigningIdentity(commonName: string, nowMs: number): SigningIdentity {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: RSA_BITS });
  const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return { privateKeyPem, certificatePem: selfSigned(privateKey, commonName, nowMs) };
}

function selfSigned(key: PrivateKey, commonName: string, nowMs: number): string {
  const algorithm = writeDer(DER.sequence, writeIdentifier(SHA256_WITH_RSA), writeDer(DER.null));
  const name = writeDer(
    DER.sequence,
    writeDer(
      DER.set,
      writeDer(
        DER.sequence,
        writeIdentifier(COMMON_NAME),
        writeDer(DER.utf8String, Buffer.from(commonName, 'utf8')),
      ),
    ),
  );
  const validity = writeDer(DER.sequence, timeOf(nowMs), timeOf(nowMs + LIFE_DAYS * MS_PER_DAY));
  const subjectKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const extensions = writeDer(
    DER.sequence,
    // cA is false by default, so the sequence is empty (RFC 5280 §4.2.1.9).
    extension(BASIC_CONSTRAINTS, writeDer(DER.sequence)),
    // digitalSignature, the first bit, and no other (RFC 5280 §4.2.1.3).
    extension(KEY_USAGE, writeDer(DER.bitString, Uint8Array.of(7, 0x80))),
  );
  const content = writeDer(
    DER.sequence,
    writeDer(0xa0, writePositive(Uint8Array.of(2))),
    writePositive(secretBytes(SERIAL_BYTES)),
    algorithm,
    name,
    validity,
    name,
    subjectKey,
    writeDer(0xa3, extensions),
  );
  const signature = sign('sha256', content, key);
  const der = writeDer(
    DER.sequence,
    content,
    algorithm,
    writeDer(DER.bitString, Uint8Array.of(0), signature),
  );
  const lines = Buffer.from(der)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}

function extension(identifier: string, value: Uint8Array): Uint8Array {
  const critical = writeDer(DER.boolean, Uint8Array.of(0xff));
  return writeDer(DER.sequence, writeIdentifier(identifier), critical, writeDer(DER.octetString, value));
}

/** RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050 on; to the second. */
function timeOf(atMs: number): Uint8Array {
  const digits = new Date(atMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return isShort
    ? writeDer(DER.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : writeDer(DER.generalizedTime, Buffer.from(digits, 'latin1'));
}
