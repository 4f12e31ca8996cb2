import type { Command } from 'commander';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { ApiError, type ClientOptions, addClientOptions, callApi } from './api_client.ts';
import { EXIT } from './exit_codes.ts';
import { writtenAt } from '../config_file/document.ts';
import type { Checked } from '../edge/document/check.ts';
import { printFindings } from './terminal.ts';
import { textOrJson } from './reporter_option.ts';
import { isScript, loadConfig } from '../project_files/load_config.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr, stdout } from './output.ts';

const SIGNS: Readonly<Record<string, string>> = { create: '+', update: '~', delete: '-' };

export function register(command: Command): void {
  textOrJson(command)
    .argument('[file]', `edge file${usualText('edge')}`)
    .option(
      '--dry-run',
      'check the file and show the changes without applying them; exit code 5 if there are any',
    )
    .option('--force', 'apply the file even if this machine can no longer use the API');
  addClientOptions(command).action(async (file: string | undefined, options: ApplyOptions) => {
    process.exitCode = await apply(namedOrUsual(file, 'edge'), options);
  });
}

interface ApplyOptions extends ClientOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

interface Applied {
  readonly notes: readonly string[];
  readonly steps: readonly { readonly action: string; readonly kind: string; readonly name: string }[];
}

async function apply(file: string, options: ApplyOptions): Promise<number> {
  const { dryRun: isDry = false, force = false, json = false } = options;
  const checked = await loadConfig(file, { secretsMayBeMissing: true, serviceName: options.serviceName });
  const { config, diagnostics } = checked;
  printFindings(diagnostics);
  if (config === null || hasErrors(diagnostics)) return EXIT.configInvalid;
  let applied: Applied;
  try {
    const path = `/edge_file?dry_run=${isDry}&force=${force}`;
    applied = (await callApi(options, 'PUT', path, config)) as Applied;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    printFindings(placed(file, checked, error));
    if (!error.isOfBody) throw error;
    stderr.write(`${error.message}\n`);
    return EXIT.configInvalid;
  }
  const { steps, notes } = applied;
  if (json) stdout.write(`${JSON.stringify({ dry_run: isDry, steps, notes }, null, 2)}\n`);
  else printChanges(applied, isDry);
  return isDry && steps.length > 0 ? EXIT.differs : EXIT.ok;
}

function printChanges({ steps, notes }: Applied, isDry: boolean): void {
  for (const note of notes) stderr.write(`${note}\n`);
  for (const { action, kind, name } of steps) {
    stdout.write(`${SIGNS[action] ?? '?'} ${kind.replaceAll('_', ' ')} ${name}\n`);
  }
  stdout.write(steps.length === 0 ? 'nothing to change\n' : `${summary(steps, isDry)}\n`);
}

/** `3 changed: 2 created, 1 deleted`. */
function summary(steps: Applied['steps'], isDry: boolean): string {
  const counts = Object.keys(SIGNS).flatMap((action) => {
    const count = steps.filter((step) => step.action === action).length;
    return count === 0 ? [] : [`${count} ${action}d`];
  });
  return `${steps.length} ${isDry ? 'would change' : 'changed'}: ${counts.join(', ')}`;
}

/** What a refusal says about the places of the file that it is about. */
function placed(file: string, { document }: Checked, { code, msg, pointers }: ApiError): Diagnostic[] {
  if (isScript(file)) return [];
  // What follows lists the places, or says more; the whole message is printed last.
  const message = msg.split(':')[0]!.replace(/\.$/, '');
  return pointers.flatMap((pointer) => {
    // The text of a file that is named beside its key is not in this file.
    const places = [pointer, pointer.replace(/_pem$/, '_file')];
    const at = places.find((place) => (document.keySpanOf(place) ?? document.spanOf(place)) !== undefined);
    if (at === undefined) return [];
    const { source } = writtenAt(document, at).document;
    const span = document.keySpanOf(at) ?? document.spanOf(at);
    if (source === undefined || span === undefined) return [];
    return [{ code, severity: 'error', message, pointer, source, span }];
  });
}
