import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../diagnostics/json.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, loadConfig } from './load_config.ts';
import { wantsColor } from './terminal.ts';

export function register(program: Command): void {
  program
    .command('check')
    .description('Check edge files; exit code 3 when one has errors')
    .argument('<file...>', 'edge files: YAML, JSON, TypeScript or JavaScript')
    .option('--json', 'print the findings as JSON')
    .action(async (files: string[], options: { json?: boolean }) => {
      process.exitCode = await check(files, options.json === true);
    });
}

async function check(files: readonly string[], json: boolean): Promise<number> {
  const all = [];
  for (const file of files) {
    try {
      all.push(...(await loadConfig(file)).diagnostics);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      process.stderr.write(`${error.message}\n`);
      return EXIT.usage;
    }
  }
  if (json) process.stdout.write(`${JSON.stringify(diagnosticsToJson(all), null, 2)}\n`);
  else if (all.length > 0)
    process.stdout.write(renderDiagnostics(all, { color: wantsColor(process.stdout) }));
  else process.stdout.write(`${files.join(', ')}: no problems found\n`);
  return hasErrors(all) ? EXIT.configInvalid : EXIT.ok;
}
