import { FileError, readText } from '../project_files/load_config.ts';
import { isOfKnownKind, isPropertyFile, isScenario } from '../project_files/file_kind.ts';
import { namedFiles } from './named_files.ts';
import { USUAL_FOLDER, namedOrUsual, placesOf, usualText } from './usual_files.ts';
import type { Command } from 'commander';
import { type FormattedText, formattedText } from '../edge/formatted_text.ts';
import { refuseBeside } from './option_conflicts.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { printFindings } from './terminal.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { stderr, stdout } from './output.ts';
import { isDocumentName } from '../config_file/document.ts';

interface Options extends ServiceOptions {
  readonly check?: boolean;
  readonly write?: boolean;
}

/** `edgeproof fmt FILE…`: the canonical form of policies. */
export function register(command: Command): void {
  serviceNameOption(command)
    .argument(
      '[file...]',
      `policies, or edge files with policies, in YAML or JSON; with --check and --write also folders and patterns, default: this folder; - is standard input${usualText('edge')}`,
    )
    .option('--check', 'change nothing; exit with 1 if a file is not formatted')
    .option('--write', 'overwrite each file instead of printing it')
    .action(async (files: string[], options: Options) => {
      if (options.check === true) refuseBeside(command, '--check', ['--write']);
      const named = await filesOf(files, options);
      process.exitCode = Math.max(...named.map((file) => formatFile(file, options)));
    });
}

/** What is printed is one file; what is checked or overwritten may be all of a folder. */
async function filesOf(named: readonly string[], { check, write }: Options): Promise<readonly string[]> {
  if (check !== true && write !== true) return named.length === 0 ? [namedOrUsual(undefined, 'edge')] : named;
  const paths = named.length === 0 ? [USUAL_FOLDER] : named;
  const files = await namedFiles(paths, isFormatted);
  if (files.length === 0)
    throw new FileError(
      `there are no policies or edge files in ${placesOf(paths)}; \`edgeproof init\` writes some`,
    );
  return files;
}

/** Whether a file of a folder may have policies. */
function isFormatted(path: string): boolean {
  if (!isDocumentName(path)) return false;
  const text = readText(path);
  return isOfKnownKind(text) && !isScenario(text);
}

function formatFile(file: string, { check = false, write = false, serviceName }: Options): number {
  const text = readText(file);
  const kind = isScenario(text) ? 'scenario' : isPropertyFile(text) ? 'property' : null;
  if (kind !== null) {
    const message = `this is a ${kind} file, which has no canonical form; name a policy, or an edge file with policies`;
    return refuse(file, { diagnostics: [], message });
  }
  const formatted = formattedText({ name: file, text }, serviceName);
  if (!('text' in formatted)) return refuse(file, formatted);
  const isSame = formatted.text === text;
  if (check) {
    if (!isSame) stdout.write(`${file}: not formatted\n`);
    return isSame ? EXIT.ok : EXIT.failed;
  }
  if (!write || file === '-') stdout.write(formatted.text);
  else if (!isSame) {
    writeText(file, formatted.text);
    stdout.write(`${file}: formatted\n`);
  }
  return EXIT.ok;
}

type Refused = Exclude<FormattedText, { readonly text: string }>;

/** Prints why a file cannot be formatted. */
function refuse(file: string, { diagnostics, message }: Refused): number {
  if (diagnostics.length > 0) printFindings(diagnostics);
  else stderr.write(`${file}: ${message}\n`);
  return EXIT.configInvalid;
}
