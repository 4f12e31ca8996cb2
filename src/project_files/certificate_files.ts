import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import { authorityProblem, chainProblem, keyProblem } from '../edge/certificates.ts';
import type { Checking, SemanticCheck } from '../edge/document/check.ts';
import type { Report } from '../edge/document/report.ts';

export interface KeyOptions {
  /** Whether files with private keys, and secrets, may be missing, because the target instance may have them. */
  readonly secretsMayBeMissing?: boolean;
}

/**
 * The check that reads certificates and keys from files named in an edge file. It puts their contents into
 * the configuration, as if they had been written there.
 */
export function certificateFiles(
  edgeFile: string,
  { secretsMayBeMissing = false }: KeyOptions = {},
): SemanticCheck {
  const folder = dirname(edgeFile);
  return ({ config, report }: Checking) => {
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
