import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Diagnostic, type Source, hasErrors } from '../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../diagnostics/json.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, checkerFor, isScript, loadConfig, readText } from './load_config.ts';
import { wantsColor } from './terminal.ts';

interface Options {
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
    .action(async (files: string[], options: Options) => {
      process.exitCode = await check(files, options);
    });
}

async function check(files: readonly string[], { json = false, fix = false }: Options): Promise<number> {
  const all: Diagnostic[] = [];
  try {
    for (const file of files) all.push(...(await findingsOf(file, fix)));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
  if (json) process.stdout.write(`${JSON.stringify(diagnosticsToJson(all), null, 2)}\n`);
  else if (all.length > 0)
    process.stdout.write(renderDiagnostics(all, { color: wantsColor(process.stdout) }));
  else process.stdout.write(`${files.join(', ')}: no problems found\n`);
  return hasErrors(all) ? EXIT.configInvalid : EXIT.ok;
}

async function findingsOf(file: string, fix: boolean): Promise<readonly Diagnostic[]> {
  if (isScript(file)) return (await loadConfig(file)).diagnostics;
  const source: Source = { name: file, text: await readText(file) };
  const checker = await checkerFor(source.text);
  if (!fix) return checker(source);
  const { fixSource } = await import('../policy/document/fixes.ts');
  const { text, applied } = fixSource(source, (each) => [...checker(each)]);
  if (applied.length > 0) {
    await writeFile(file, text);
    process.stdout.write(`${file}: ${applied.length} ${applied.length === 1 ? 'fix' : 'fixes'} applied\n`);
  }
  return checker({ name: file, text });
}
