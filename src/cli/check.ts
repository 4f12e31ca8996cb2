import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Diagnostic, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, checkerFor, isScript, loadConfig, readText } from './load_config.ts';
import { wantsColor } from './terminal.ts';

export interface CheckOptions {
  readonly json?: boolean;
  readonly fix?: boolean;
}

export function register(program: Command): void {
  program
    .command('check')
    .description('Check edge files and traffic policies; exit code 3 when one has errors')
    .argument('<file...>', 'edge files or policies: YAML, JSON; edge files also TypeScript or JavaScript')
    .option('--json', 'print the findings as JSON')
    .option('--fix', 'apply the fixes that surely keep the meaning, and check what is left')
    .action(async (files: string[], options: CheckOptions) => {
      process.exitCode = await check(files, options);
    });
}

/** Checks files and gives the exit code. */
export async function check(
  files: readonly string[],
  { json = false, fix = false }: CheckOptions,
): Promise<number> {
  const all: Diagnostic[] = [];
  try {
    for (const file of files) all.push(...(await findingsOf(file, { json, fix })));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
  process.stdout.write(await told(all, files, json));
  return hasErrors(all) ? EXIT.configInvalid : EXIT.ok;
}

/** Editors and hooks call the checker on every save: what only findings need is loaded for findings. */
async function told(all: readonly Diagnostic[], files: readonly string[], json: boolean): Promise<string> {
  if (json) {
    const { diagnosticsToJson } = await import('../diagnostics/json.ts');
    return `${JSON.stringify(diagnosticsToJson(all), null, 2)}\n`;
  }
  if (all.length === 0) return `${files.join(', ')}: no problems found\n`;
  const { renderDiagnostics } = await import('../diagnostics/render.ts');
  return renderDiagnostics(all, { color: wantsColor(process.stdout) });
}

async function findingsOf(
  file: string,
  { json, fix }: Required<CheckOptions>,
): Promise<readonly Diagnostic[]> {
  if (isScript(file)) return (await loadConfig(file)).diagnostics;
  const source: Source = { name: file, text: readText(file) };
  const checker = await checkerFor(source.text);
  if (!json) await tellCertainty(source.text);
  if (!fix) return checker(source);
  const { fixSource } = await import('../policy/document/fixes.ts');
  const { text, applied } = fixSource(source, (each) => [...checker(each)]);
  if (applied.length > 0) {
    writeFileSync(file, text);
    process.stdout.write(`${file}: ${applied.length} ${applied.length === 1 ? 'fix' : 'fixes'} applied\n`);
  }
  return checker({ name: file, text });
}

const PROVIDER = /\bprovider["']?\s*:\s*["']?([a-z0-9_]+)/gi;

/** How sure it is that each webhook provider of the file signs as it is verified here. */
async function tellCertainty(text: string): Promise<void> {
  if (!/webhook_verification|verify-webhook/.test(text)) return;
  const { findProvider } = await import('../mechanisms/webhook/table.ts');
  const names = new Set([...text.matchAll(PROVIDER)].map(([, name]) => name!.toLowerCase()));
  for (const name of names) {
    const provider = findProvider(name);
    if (provider !== undefined)
      process.stdout.write(`webhook provider ${name}: certainty ${provider.certainty}\n`);
  }
}
