import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type AlternativeName,
  type CertificateRequest,
  certificateFor,
  issueCertificate,
  issueCertificateAside,
} from '../crypto/issue_certificate.ts';
import { writeOwnFile } from '../control/store/own_file.ts';
import type { CertificateIssuer } from '../control/resources/contract.ts';
import { isKeyOf, readCertificate } from '../crypto/x509.ts';
import { nodeCrypto } from '../loading/builtins.ts';
import type { TlsCertificate } from '../engine/connection.ts';
import { lazyLoad } from '../loading/lazy_load.ts';
import { addressBytes, parseAddress } from '../net/address.ts';
import { FileError } from '../project_files/load_config.ts';
import { failureText } from '../diagnostics/system_failure.ts';
import { OutputError } from './failure.ts';
import { makeMissing } from './folders.ts';

/** The certificate authority of this user on this machine. Its certificates are for local use. */
export interface LocalAuthority extends TlsCertificate {
  /** The file that contains its certificate. */
  readonly file: string;
}

const AUTHORITY_DAYS = 3_650;
/** The longest validity that clients accept (CA/Browser Forum). */
const LEAF_DAYS = 397;
const DAY_MS = 86_400_000;
const FOLDER_OWNER_ONLY = 0o700;

/** The user's data folder; `EDGEPROOF_HOME` overrides it. */
export function dataFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const own = env['EDGEPROOF_HOME'];
  if (own !== undefined && own !== '') return own;
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'edgeproof');
  if (platform === 'win32') {
    return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'edgeproof');
  }
  const data = env['XDG_DATA_HOME'];
  return join(data !== undefined && data !== '' ? data : join(homedir(), '.local', 'share'), 'edgeproof');
}

/** Where the certificate of the authority is. */
export function authorityFile(folder: string): string {
  return join(folder, 'authority.pem');
}

/** The authority in a folder. If there is none, it is created; only its owner can read its key. */
export async function localAuthority(folder: string): Promise<LocalAuthority> {
  return authorityIn(folder);
}

/** As `localAuthority`, at once: reading and making it takes some milliseconds. */
export function authorityIn(folder: string): LocalAuthority {
  const file = authorityFile(folder);
  const keyFile = join(folder, 'authority-key.pem');
  const kept = readKept(file, keyFile);
  if (kept !== null) return { ...kept, file };
  const made = makeAuthority();
  try {
    makeMissing(resolve(folder), FOLDER_OWNER_ONLY);
    // The key is written first, so that a process that finds the certificate finds its key, too.
    writeOwnFile(keyFile, made.privateKeyPem, 'wx');
    writeFileSync(file, made.certificatePem, { flag: 'wx' });
  } catch (error) {
    // Another process may have created it in the meantime.
    const others = readKept(file, keyFile);
    if (others !== null) return { ...others, file };
    throw new OutputError(
      `cannot keep a local authority in ${folder}: ${failureText(error)}; EDGEPROOF_HOME names another folder`,
    );
  }
  return { ...made, file };
}

/** The stored authority, if it is complete and still valid for a while. */
function readKept(file: string, keyFile: string): TlsCertificate | null {
  let kept: TlsCertificate;
  try {
    kept = { certificatePem: readFileSync(file, 'utf8'), privateKeyPem: readFileSync(keyFile, 'utf8') };
  } catch {
    return null;
  }
  const facts = readCertificate(kept.certificatePem);
  const isWhole = !('problem' in facts) && isKeyOf(kept.certificatePem, kept.privateKeyPem);
  if (!isWhole)
    throw new FileError(`${file} and its key do not belong together; remove both to make new ones`);
  if (facts.notAfterMs < Date.now()) {
    throw new FileError(
      `${file} is no longer valid; \`edgeproof trust --uninstall\`, then remove it and its key`,
    );
  }
  return kept;
}

function makeAuthority(): TlsCertificate {
  const name = `edgeproof local authority (${userInfo().username}@${hostname()})`;
  return issueCertificate({ ...common(name, AUTHORITY_DAYS), authority: { pathLength: 0 } });
}

/** Common names have at most 64 characters. The validity begins a day ago, for clocks that are slow. */
function common(name: string, days: number): CertificateRequest {
  const notBeforeMs = Date.now() - DAY_MS;
  return { commonName: name.slice(0, 64), key: 'p256', notBeforeMs, notAfterMs: notBeforeMs + days * DAY_MS };
}

const LOCAL_NAMES = ['localhost', '127.0.0.1', '::1'];

/** A certificate for a host; by default for this machine. */
export function serverCertificate(authority: LocalAuthority, host: string): TlsCertificate {
  return certificateForHosts(authority, host === '' || host === 'localhost' ? LOCAL_NAMES : [host]);
}

/** A certificate for hosts, at least one. */
export function certificateForHosts(authority: LocalAuthority, names: readonly string[]): TlsCertificate {
  return issueCertificate({
    ...common(names[0]!, LEAF_DAYS),
    purposes: ['serverAuth'],
    names: names.map(alternativeName),
    issuer: authority,
  });
}

/** Validity of certificates that are renewed by themselves, as that of ACME authorities. */
const MANAGED_DAYS = 90;

/** Issues managed certificates by the local authority, which is created for the first one. */
export function localIssuer(folder: string): CertificateIssuer {
  const authority = lazyLoad(() => localAuthority(folder));
  return {
    serverCertificate: async (host, key) =>
      issueCertificateAside({
        ...common(host, MANAGED_DAYS),
        key: key === 'rsa' ? 'rsa' : 'p256',
        purposes: ['serverAuth'],
        names: [alternativeName(host)],
        issuer: await authority.get(),
      }),
    clientCertificate: async (name, publicKey) => {
      const issuer = await authority.get();
      const request = { ...common(name, LEAF_DAYS), purposes: ['clientAuth'] as const, issuer };
      return certificateFor(request, publicKey, nodeCrypto().createPrivateKey(issuer.privateKeyPem));
    },
  };
}

/** A client certificate. */
export function clientCertificate(
  authority: LocalAuthority,
  name: string,
  emails: readonly string[],
): TlsCertificate {
  return issueCertificate({
    ...common(name, LEAF_DAYS),
    purposes: ['clientAuth'],
    names: emails.map((value) => ({ type: 'email', value })),
    issuer: authority,
  });
}

function alternativeName(name: string): AlternativeName {
  const address = parseAddress(name);
  return address === null ? { type: 'dns', value: name } : { type: 'ip', bytes: addressBytes(address) };
}

/** Maximum number of cached certificates; clients can ask for any number of hosts of a wildcard edge. */
const CACHE_LIMIT = 1_000;

/** Issues certificates of the local authority, which is created for the first one. */
export function localCertificates(folder: string): (host: string) => Promise<TlsCertificate> {
  const kept = new Map<string, Promise<TlsCertificate>>();
  const authority = lazyLoad(() => localAuthority(folder));
  return (host) => {
    let made = kept.get(host);
    if (made === undefined) {
      if (kept.size >= CACHE_LIMIT) kept.delete(kept.keys().next().value!);
      made = authority.get().then((known) => serverCertificate(known, host));
      kept.set(host, made);
      made.catch(() => kept.delete(host));
    }
    return made;
  };
}
