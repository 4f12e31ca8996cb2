import { type KeyObject, sign } from 'node:crypto';
import { DER } from '../../src/crypto/der.ts';
import { writeDer, writeIdentifier } from '../../src/crypto/der_writer.ts';
import { issueCertificate } from '../../src/crypto/issue_certificate.ts';

export interface Made {
  readonly pem: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;

/** A self-signed certificate of a host at 127.0.0.1. */
export function selfSigned(commonName: string): Made {
  return made({ commonName, names: [{ type: 'ip', bytes: Uint8Array.of(127, 0, 0, 1) }] });
}

/** A self-signed certificate of a host. */
export function certificateOf(host: string): Made {
  return made({ commonName: host, names: [{ type: 'dns', value: host }] });
}

let authority: Made | undefined;

/** One certificate authority for all tests of a file. */
export function someAuthority(): Made {
  return (authority ??= authorityNamed('Test authority'));
}

export function authorityNamed(commonName: string): Made {
  return made({ commonName, authority: { pathLength: null } });
}

function made(
  request: Omit<Parameters<typeof issueCertificate>[0], 'key' | 'notBeforeMs' | 'notAfterMs'>,
): Made {
  const nowMs = Date.now();
  const issued = issueCertificate({
    key: 'p256',
    notBeforeMs: nowMs - DAY_MS,
    notAfterMs: nowMs + 30 * DAY_MS,
    ...request,
  });
  return { pem: issued.certificatePem, key: issued.privateKeyPem };
}

/** A PEM certificate signing request (RFC 2986) with an empty subject. */
export function signingRequest(publicKey: KeyObject, privateKey: KeyObject): string {
  const isEdwards = privateKey.asymmetricKeyType === 'ed25519';
  const info = writeDer(
    DER.sequence,
    writeDer(DER.integer, Uint8Array.of(0)),
    writeDer(DER.sequence),
    publicKey.export({ type: 'spki', format: 'der' }),
    writeDer(0xa0),
  );
  const algorithm = writeIdentifier(isEdwards ? '1.3.101.112' : '1.2.840.10045.4.3.2');
  const signature = sign(isEdwards ? null : 'sha256', info, privateKey);
  const whole = writeDer(
    DER.sequence,
    info,
    writeDer(DER.sequence, algorithm),
    writeDer(DER.bitString, Uint8Array.of(0), signature),
  );
  const text = Buffer.from(whole)
    .toString('base64')
    .replaceAll(/.{1,64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${text}-----END CERTIFICATE REQUEST-----\n`;
}
