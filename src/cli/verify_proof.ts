import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { usable } from '../edgeproof.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { loadRevision } from '../project_files/load_revision.ts';
import type { Certificate, Claim } from '../proof/certificate.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { verify } from '../proof/verify.ts';
import type { CertificateFile } from './certificates.ts';
import { EXIT } from './exit_codes.ts';
import { textOrJson } from './reporter_option.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { printable, wantsColor } from './terminal.ts';
import { counted } from '../diagnostics/message_text.ts';
import { stderr, stdout } from './output.ts';

interface Options extends ServiceOptions {
  readonly json?: boolean;
}

/** What one certificate shows. */
type Verified =
  | { readonly verdict: 'VERIFIED'; readonly name: string; readonly classes: number }
  | { readonly verdict: 'REFUSED'; readonly reason: string };

export function register(command: Command): void {
  textOrJson(serviceNameOption(command))
    .argument('<certificates>', 'file that `prove` or `diff` wrote with --certificate')
    .argument('[files...]', 'the edge files that the proof is about, if their names have changed')
    .action(async (path: string, files: readonly string[], options: Options) => {
      process.exitCode = await verifyAll(path, files, options);
    });
}

async function verifyAll(path: string, given: readonly string[], options: Options): Promise<number> {
  const read = contentOf(readText(path));
  if (read === null) {
    throw new FileError(
      `${path}: this is not a file of certificates; name the one that \`edgeproof prove --certificate\` wrote`,
    );
  }
  const loaded = await Promise.all(
    (given.length > 0 ? given : read.files).map((file) => loadRevision(file, options)),
  );
  const findings = loaded.flatMap(({ diagnostics }) => diagnostics);
  if (hasErrors(findings)) {
    stderr.write(renderDiagnostics(findings, { color: wantsColor(stderr) }));
    return EXIT.configInvalid;
  }
  const configs = loaded.map((each) => usable(each).config);
  const results = read.certificates.map((certificate) => resultOf(certificate, configs));
  if (options.json === true) stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else for (const result of results) stdout.write(`${printable(textOf(result))}\n`);
  return results.some(({ verdict }) => verdict === 'REFUSED') ? EXIT.refuted : EXIT.ok;
}

function resultOf(certificate: Certificate, configs: readonly EdgeConfig[]): Verified {
  try {
    const { claim, classes } = verify(certificate, configs);
    return { verdict: 'VERIFIED', name: nameOf(claim), classes };
  } catch (error) {
    // Whatever is wrong with a certificate, it shows nothing.
    return { verdict: 'REFUSED', reason: error instanceof Error ? error.message : String(error) };
  }
}

function textOf(result: Verified): string {
  if (result.verdict === 'REFUSED') return `REFUSED   ${result.reason}`;
  return `VERIFIED  ${result.name}   ${counted(result.classes, 'class', 'classes')} of requests`;
}

function contentOf(text: string): CertificateFile | null {
  try {
    const { files, certificates } = JSON.parse(text) as CertificateFile;
    const isList = Array.isArray(files) && files.every((file) => typeof file === 'string');
    return isList && Array.isArray(certificates) && certificates.length > 0 ? { files, certificates } : null;
  } catch {
    return null;
  }
}

function nameOf(claim: Claim): string {
  return 'property' in claim ? claim.property.name : 'the configurations are equivalent';
}
