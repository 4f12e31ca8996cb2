import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Made {
  readonly pem: string;
  readonly key: string;
}

/** Runs openssl with some input. */
export function openssl(args: readonly string[], input = ''): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });
}

/** A certificate that openssl has signed itself, with the given extensions and subject. */
export function makeCertificate(
  extensions: readonly string[],
  subject = '/CN=Test authority',
  kind = 'ec',
): Made {
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

let authority: Made | undefined;

/** One certificate authority for all tests of a file: openssl takes a moment. */
export function someAuthority(): Made {
  return (authority ??= makeCertificate([
    'basicConstraints=critical,CA:TRUE',
    'keyUsage=keyCertSign,cRLSign',
  ]));
}
