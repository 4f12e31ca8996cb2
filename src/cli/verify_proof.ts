import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { usable } from '../edgeproof.ts';
import { readText } from '../project_files/load_config.ts';
import { loadRevision } from '../project_files/load_revision.ts';
import type { Claim } from '../proof/certificate.ts';
import { verify } from '../proof/verify.ts';
import type { CertificateFile } from './certificates.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { printable, wantsColor } from './terminal.ts';
import { counted } from '../diagnostics/message_text.ts';
import { stderr, stdout } from './output.ts';

export function register(command: Command): void {
  serviceNameOption(command)
    .argument('<certificates>', 'file that `prove` or `diff` wrote with --certificate')
    .argument('[files...]', 'the edge files that the proof is about, if their names have changed')
    .action(async (path: string, files: readonly string[], options: ServiceOptions) => {
      process.exitCode = await verifyAll(path, files, options);
    });
}

async function verifyAll(path: string, given: readonly string[], options: ServiceOptions): Promise<number> {
  const read = contentOf(readText(path));
  if (read === null) {
    stderr.write(
      `${path}: this is not a file of certificates; name the one that \`edgeproof prove --certificate\` wrote\n`,
    );
    return EXIT.configInvalid;
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
  let code: number = EXIT.ok;
  for (const certificate of read.certificates) {
    try {
      const { claim, classes } = verify(certificate, configs);
      stdout.write(
        `${printable(`VERIFIED  ${nameOf(claim)}   ${counted(classes, 'class', 'classes')} of requests`)}\n`,
      );
    } catch (error) {
      // Whatever is wrong with a certificate, it shows nothing.
      const reason = error instanceof Error ? error.message : String(error);
      stdout.write(`${printable(`REFUSED   ${reason}`)}\n`);
      code = EXIT.refuted;
    }
  }
  return code;
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
