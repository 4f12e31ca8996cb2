import { readText } from '../project_files/load_config.ts';
import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { brandingOf } from '../engine/branding.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { formatPolicy } from '../policy/document/format.ts';
import { formatEmbeddedPolicies, isEdgeText } from '../policy/document/format_embedded.ts';
import { writeText } from './write_file.ts';
import { EXIT } from './exit_codes.ts';
import { printFindings } from './terminal.ts';

interface Options {
  readonly check?: boolean;
  readonly write?: boolean;
}

/** `edgeproof fmt FILE…`: the canonical form of policies. */
export function register(command: Command): void {
  command
    .argument('<file...>', 'policies, or edge files with policies, in YAML or JSON; - is standard input')
    .option('--check', 'change nothing; exit with 1 if a file is not formatted')
    .option('--write', 'overwrite each file instead of printing it')
    .action((files: string[], options: Options) => {
      process.exitCode = Math.max(...files.map((file) => formatFile(file, options)));
    });
}

function formatFile(file: string, { check = false, write = false }: Options): number {
  const text = readText(file);
  const isEdge = isEdgeText(text);
  const formatted = isEdge ? formatEmbeddedPolicies(text) : formatPolicy(text);
  if ('message' in formatted) return refuse(file, text, formatted.message, isEdge);
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

/**
 * Prints why a file cannot be formatted: the findings of the checker or, if there are none, the message of
 * the formatter.
 */
function refuse(file: string, text: string, message: string, isEdge: boolean): number {
  const source = { name: file, text };
  const { diagnostics } = isEdge
    ? checkWholeEdge(source)
    : checkPolicy(source, { branding: brandingOf('service') });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (hasErrors(errors)) printFindings(errors);
  else process.stderr.write(`${file}: ${message}\n`);
  return EXIT.configInvalid;
}
