import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Certificates made with OpenSSL's command line: another implementation than the one under test. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface TestAuthority extends Pair {
  readonly issue: (name: string, extensions: string, more?: readonly string[]) => Pair;
  /** An authority below this one. */
  readonly below: (name: string) => TestAuthority;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** OpenSSL's version, or null when it is not there. */
export function opensslVersion(): string | null {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

export function testAuthority(name: string): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-tls-'));
  const pair = pairAt(folder, name);
  openssl(
    'req',
    '-x509',
    ...KEY,
    '-keyout',
    pair.keyFile,
    '-out',
    pair.certFile,
    '-subj',
    `/CN=${name}`,
    '-days',
    '30',
    '-addext',
    'basicConstraints=critical,CA:TRUE',
    '-addext',
    'keyUsage=critical,keyCertSign',
  );
  return authorityOf(folder, read(pair));
}

function authorityOf(folder: string, own: Pair): TestAuthority {
  const issue = (name: string, extensions: string, more: readonly string[] = ['-days', '10']): Pair => {
    const pair = pairAt(folder, name);
    const request = join(folder, `${name}.csr`);
    const extensionFile = join(folder, `${name}.ext`);
    writeFileSync(extensionFile, extensions);
    openssl('req', ...KEY, '-keyout', pair.keyFile, '-out', request, '-subj', `/O=Acme/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      own.certFile,
      '-CAkey',
      own.keyFile,
      '-CAcreateserial',
      '-out',
      pair.certFile,
      '-extfile',
      extensionFile,
      ...more,
    );
    return read(pair);
  };
  return {
    ...own,
    issue,
    below: (name) =>
      authorityOf(folder, issue(name, 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n')),
  };
}

function pairAt(folder: string, name: string): Pair {
  const file = join(folder, name.replaceAll(/[^\w.-]/g, '_'));
  return { cert: '', key: '', certFile: `${file}.pem`, keyFile: `${file}.key` };
}

function read(pair: Pair): Pair {
  return { ...pair, cert: readFileSync(pair.certFile, 'utf8'), key: readFileSync(pair.keyFile, 'utf8') };
}

export const SERVER = (names: string) => `subjectAltName=${names}\nextendedKeyUsage=serverAuth\n`;
export const CLIENT = 'extendedKeyUsage=clientAuth\nsubjectAltName=DNS:robot.test,email:robot@acme.test\n';
