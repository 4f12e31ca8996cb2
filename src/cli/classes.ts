import type { Command } from 'commander';
import { classesOf } from '../analysis/classes.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { usable } from '../edgeproof.ts';
import { loadRevision } from '../project_files/load_revision.ts';
import { EXIT } from './exit_codes.ts';
import { printable, wantsColor } from './terminal.ts';

export function register(command: Command): void {
  command
    .argument('[file]', 'edge file, or one of a git revision, such as main:edge.yaml', 'edge.yaml')
    .option('--json', 'print JSON')
    .action(async (file: string, { json = false }: { json?: boolean }) => {
      process.exitCode = await classes(file, json);
    });
}

async function classes(file: string, json: boolean): Promise<number> {
  const checked = await loadRevision(file);
  if (hasErrors(checked.diagnostics)) {
    process.stderr.write(renderDiagnostics(checked.diagnostics, { color: wantsColor(process.stderr) }));
    return EXIT.configInvalid;
  }
  const all = classesOf(usable(checked).config);
  const text = all.map(({ where, conditions, outcome }) =>
    [where, ...conditions.map((condition) => `  ${condition}`), `  → ${outcome}`].map(printable).join('\n'),
  );
  process.stdout.write(json ? `${JSON.stringify(all, null, 2)}\n` : `${text.join('\n\n')}\n`);
  return EXIT.ok;
}
