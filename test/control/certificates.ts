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

let authority: Made | undefined;

/** One certificate authority for all tests of a file. */
export function someAuthority(): Made {
  return (authority ??= made({ commonName: 'Test authority', authority: { pathLength: null } }));
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
