import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { type ClientOptions, addClientOptions, callApi, withApiErrors } from './api_client.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, loadConfig } from '../project_files/load_config.ts';
import { wantsColor } from './terminal.ts';

const SIGNS: Readonly<Record<string, string>> = { create: '+', update: '~', delete: '-' };

export function register(program: Command): void {
  const command = program
    .command('apply')
    .description('Apply an edge file to a running instance')
    .argument('<file>', 'edge file')
    .option('--dry-run', 'check the file and show the changes without applying them');
  addClientOptions(command).action(async (file: string, options: ClientOptions & { dryRun?: boolean }) => {
    process.exitCode = await withApiErrors(() => apply(file, options, options.dryRun === true));
  });
}

async function apply(file: string, options: ClientOptions, isDry: boolean): Promise<number> {
  let loaded: Awaited<ReturnType<typeof loadConfig>>;
  try {
    loaded = await loadConfig(file, { keysMayBeMissing: true });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
  const { config, diagnostics } = loaded;
  if (diagnostics.length > 0) {
    process.stderr.write(renderDiagnostics(diagnostics, { color: wantsColor(process.stderr) }));
  }
  if (config === null || hasErrors(diagnostics)) return EXIT.configInvalid;
  const path = `/edge_file${isDry ? '?dry_run=true' : ''}`;
  const { steps, notes } = (await callApi(options, 'PUT', path, config)) as {
    readonly notes: readonly string[];
    readonly steps: readonly { readonly action: string; readonly kind: string; readonly name: string }[];
  };
  for (const note of notes) process.stderr.write(`${note}\n`);
  for (const { action, kind, name } of steps) {
    process.stdout.write(`${SIGNS[action] ?? '?'} ${kind.replaceAll('_', ' ')} ${name}\n`);
  }
  const did = isDry ? 'would change' : 'changed';
  process.stdout.write(steps.length === 0 ? 'nothing to change\n' : `${steps.length} ${did}\n`);
  return EXIT.ok;
}
