import { writeText } from './write_file.ts';
import { NotCertified } from '../analysis/certify.ts';
import type { Certificate } from '../proof/certificate.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { Refused, hashOf, verify } from '../proof/verify.ts';

/** A file of certificates: what they are about, and what they show. */
export interface CertificateFile {
  /** Names of the edge files, as they were given. */
  readonly files: readonly string[];
  readonly certificates: readonly Certificate[];
}

/** A proof that is to be written. */
interface Certifiable {
  readonly name: string;
  readonly make: (hashes: readonly string[]) => Certificate;
}

/**
 * Writes the certificates of proofs, each verified before; prints why where there is none. False if one is
 * missing.
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
      const certificate = make(hashes);
      verify(certificate, configs);
      return [certificate];
    } catch (error) {
      if (!(error instanceof NotCertified || error instanceof Refused)) throw error;
      process.stderr.write(`no certificate of '${name}': ${error.message}\n`);
      return [];
    }
  });
  const content: CertificateFile = { files, certificates };
  writeText(path, `${JSON.stringify(content)}\n`);
  return certificates.length === proofs.length;
}
