import { createSecureContext } from 'node:tls';
import type { SealingOptions } from '../control/sealing_keys.ts';
import { FileError, readText } from '../project_files/load_config.ts';

/** Options of `serve` that name files. */
export interface ServeFiles {
  readonly sealKeyFile?: string;
  readonly sealKeyCommand?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Where the keys of the secrets of the store are. Throws FileError if two places are given. */
export function sealingKeysIn({ sealKeyFile, sealKeyCommand }: ServeFiles): SealingOptions {
  if (sealKeyFile !== undefined && sealKeyCommand !== undefined)
    throw new FileError('--seal-key-file and --seal-key-command exclude each other');
  return {
    ...(sealKeyFile !== undefined && { keyFile: sealKeyFile }),
    ...(sealKeyCommand !== undefined && { keyCommand: sealKeyCommand }),
  };
}

/** The certificate of the API; null for plain HTTP. Throws FileError if the files cannot be used. */
export function apiCertificate({
  tlsCert,
  tlsKey,
}: ServeFiles): { readonly cert: string; readonly key: string } | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new FileError('--tls-cert and --tls-key must be given together');
  }
  const files = { cert: readText(tlsCert), key: readText(tlsKey) };
  try {
    createSecureContext(files);
  } catch {
    throw new FileError(
      `${tlsCert} and ${tlsKey} are not a certificate and its private key in PEM; \`edgeproof cert HOST\` makes both`,
    );
  }
  return files;
}
