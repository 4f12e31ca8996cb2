import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { authorityProblem, chainProblem, keyProblem } from '../edge/certificates.ts';
import type { Checking, SemanticCheck } from '../edge/document/check.ts';
import type { Report } from '../edge/document/report.ts';
import { besideName } from './files_beside.ts';
import type { StandIns } from './stand_ins.ts';

export interface KeyOptions {
  /** Whether files with private keys, and secrets, may be missing, because the target instance may have them. */
  readonly secretsMayBeMissing?: boolean;
  /** What takes the place of files that this machine does not have; by default they are errors. */
  readonly standIns?: StandIns | undefined;
  /** Called with each file that is named, also with one that cannot be used: it may be written later. */
  readonly names?: (file: string) => void;
}

/**
 * The check that reads certificates and keys from files named in an edge file. It puts their contents into
 * the configuration, as if they had been written there.
 */
export function certificateFiles(
  edgeFile: string,
  { secretsMayBeMissing = false, standIns, names }: KeyOptions = {},
): SemanticCheck {
  const folder = dirname(edgeFile);
  return ({ config, report }: Checking) => {
    for (const named of namedIn(config)) names?.(besideName(edgeFile, named));
    if (standIns !== undefined) replaceMissing(config, folder, standIns);
    for (const [name, authority] of Object.entries(config.certificate_authorities ?? {})) {
      const at = pointerTo('/certificate_authorities', name);
      fill(authority, 'ca_pem', 'ca_file', at, { folder, report, problemOf: authorityProblem });
    }
    for (const [name, certificate] of Object.entries(config.tls_certificates ?? {})) {
      const at = pointerTo('/tls_certificates', name);
      const chain = { folder, report, problemOf: chainProblem };
      fill(certificate, 'certificate_pem', 'certificate_file', at, chain);
      const pem = certificate?.certificate_pem;
      const problemOf = (key: string): string | null => (pem === undefined ? null : keyProblem(pem, key));
      const mayBeMissing = secretsMayBeMissing;
      fill(certificate, 'private_key_pem', 'private_key_file', at, {
        folder,
        report,
        problemOf,
        mayBeMissing,
      });
    }
    return [];
  };
}

function namedIn({
  certificate_authorities: authorities,
  tls_certificates: certificates,
}: Checking['config']) {
  const named = [
    ...Object.values(authorities ?? {}).map((each) => each?.ca_file),
    ...Object.values(certificates ?? {}).flatMap((each) => [each?.certificate_file, each?.private_key_file]),
  ];
  return named.filter((file) => file !== undefined);
}

/** Replaces what is named by files that are not on this machine, or that this user may not read. */
function replaceMissing(config: Checking['config'], folder: string, standIns: StandIns): void {
  const { tls_certificates: certificates = {}, certificate_authorities: authorities = {} } = config;
  for (const [name, certificate] of Object.entries(certificates)) {
    const { certificate_file: chain, private_key_file: key } = certificate ?? {};
    const written = missing(chain, folder) ?? missing(key, folder);
    if (certificate === undefined || written === null) continue;
    const { certificatePem, privateKeyPem } = standIns.certificateFor(hostsOf(config));
    Object.assign(certificate, { certificate_pem: certificatePem, private_key_pem: privateKeyPem });
    standIns.replaced({ part: `certificate ${name}`, written, here: 'issued by the local authority' });
  }
  for (const [name, authority] of Object.entries(authorities)) {
    const written = missing(authority?.ca_file, folder);
    if (authority === undefined || written === null) continue;
    (authority as Record<string, string>)['ca_pem'] = standIns.authorityPem();
    const here = 'the local authority; `edgeproof cert --client NAME` issues client certificates';
    standIns.replaced({ part: `authority ${name}`, written, here });
  }
}

/** The hosts of all edges with TLS. */
function hostsOf({ edges }: Checking['config']): readonly string[] {
  const all = [...Object.values(edges?.https ?? {}), ...Object.values(edges?.tls ?? {})];
  const hosts = all.flatMap((edge) => edge?.hostports ?? []).flatMap((hostport) => hostport ?? []);
  return [...new Set(hosts.map((hostport) => hostport.replace(/:\d+$/, '')))];
}

/** The file and why it cannot be read; null if it can be, or fails for a reason that is not of this machine. */
function missing(file: string | undefined, folder: string): string | null {
  if (file === undefined) return null;
  try {
    readFileSync(resolve(folder, file));
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return `${file} is not here`;
    return code === 'EACCES' ? `${file} may not be read` : null;
  }
}

interface Filling {
  readonly folder: string;
  readonly report: Report;
  readonly problemOf: (text: string) => string | null;
  readonly mayBeMissing?: boolean;
}

/** Reads a file into another key; problems are reported at the file name. */
function fill(
  thing: Readonly<Record<string, string | undefined>> | undefined,
  textKey: string,
  fileKey: string,
  pointer: string,
  { folder, report, problemOf, mayBeMissing = false }: Filling,
): void {
  const name = thing?.[fileKey];
  if (thing === undefined || name === undefined || textKey in thing) return;
  let message: string | null;
  try {
    const text = readFileSync(resolve(folder, name), 'utf8');
    message = problemOf(text);
    // The parts were created for this check and become the configuration, so they can be changed.
    if (message === null) (thing as Record<string, string>)[textKey] = text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeMissing) return;
    message =
      code === 'ENOENT'
        ? `there is no such file; the path is relative to the edge file`
        : `the file cannot be read (${code ?? 'unknown'})`;
  }
  if (message !== null) report('edge.bad_certificate', pointerTo(pointer, fileKey), `${name}: ${message}`);
}
