import { writeText } from './write_file.ts';
import { NotCertified } from '../analysis/certify.ts';
import type { Certificate } from '../proof/certificate.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { Refused, hashOf, verify } from '../proof/verify.ts';
import { stderr } from './output.ts';

/** A file of certificates: what they are about, and what they show. */
export interface CertificateFile {
  /** Names of the edge files, as they were given. */
  readonly files: readonly string[];
  readonly certificates: readonly Certificate[];
}

/** A claim that is to be certified. */
interface Certifiable {
  readonly name: string;
  /** Null if it is not proved. */
  readonly make: ((hashes: readonly string[]) => Certificate) | null;
}

/**
 * Writes the certificates of proofs, each verified before; prints why where there is none. Without any no file is
 * written. False if one is missing.
 */
export function writeCertificates(
  path: string,
  files: readonly string[],
  configs: readonly EdgeConfig[],
  proofs: readonly Certifiable[],
): boolean {
  const hashes = configs.map(hashOf);
  const certificates = proofs.flatMap(({ name, make }) => {
    try {
      if (make === null) throw new NotCertified('it is not proved');
      const certificate = make(hashes);
      verify(certificate, configs);
      return [certificate];
    } catch (error) {
      if (!(error instanceof NotCertified || error instanceof Refused)) throw error;
      stderr.write(`no certificate of '${name}': ${error.message}\n`);
      return [];
    }
  });
  const content: CertificateFile = { files, certificates };
  if (certificates.length > 0) writeText(path, `${JSON.stringify(content)}\n`);
  else stderr.write(`${path} is not written: there is nothing to certify\n`);
  return certificates.length === proofs.length;
}
