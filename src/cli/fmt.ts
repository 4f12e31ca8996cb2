import { FileError, readText } from '../project_files/load_config.ts';
import type { Command } from 'commander';
import { type FormattedText, formattedText } from '../edge/formatted_text.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { printFindings } from './terminal.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';

interface Options extends ServiceOptions {
  readonly check?: boolean;
  readonly write?: boolean;
}

/** `edgeproof fmt FILE…`: the canonical form of policies. */
export function register(command: Command): void {
  serviceNameOption(command)
    .argument(
      '[file...]',
      'policies, or edge files with policies, in YAML or JSON; - is standard input; default: edge.yaml',
    )
    .option('--check', 'change nothing; exit with 1 if a file is not formatted')
    .option('--write', 'overwrite each file instead of printing it')
    .action((files: string[], options: Options) => {
      if (options.check === true && options.write === true)
        throw new FileError('--check and --write exclude each other: leave one out');
      const named = files.length === 0 ? ['edge.yaml'] : files;
      process.exitCode = Math.max(...named.map((file) => formatFile(file, options)));
    });
}

function formatFile(file: string, { check = false, write = false, serviceName }: Options): number {
  const text = readText(file);
  const formatted = formattedText({ name: file, text }, serviceName);
  if (!('text' in formatted)) return refuse(file, formatted);
  const isSame = formatted.text === text;
  if (check) {
    if (!isSame) process.stdout.write(`${file}: not formatted\n`);
    return isSame ? EXIT.ok : EXIT.failed;
  }
  if (!write || file === '-') process.stdout.write(formatted.text);
  else if (!isSame) {
    writeText(file, formatted.text);
    process.stdout.write(`${file}: formatted\n`);
  }
  return EXIT.ok;
}

type Refused = Exclude<FormattedText, { readonly text: string }>;

/** Prints why a file cannot be formatted. */
function refuse(file: string, { diagnostics, message }: Refused): number {
  if (diagnostics.length > 0) printFindings(diagnostics);
  else process.stderr.write(`${file}: ${message}\n`);
  return EXIT.configInvalid;
}
