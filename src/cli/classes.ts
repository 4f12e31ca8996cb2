import { type Command, Option } from 'commander';
import { type RequestClass, classesMarkdown, classesOf, classesText } from '../analysis/classes.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { usable } from '../edgeproof.ts';
import { loadRevision } from '../project_files/load_revision.ts';
import { EXIT } from './exit_codes.ts';
import { wantsColor } from './terminal.ts';

type Reporter = (classes: readonly RequestClass[]) => string;

const REPORTERS = {
  text: classesText,
  json: (all) => `${JSON.stringify(all, null, 2)}\n`,
  markdown: classesMarkdown,
} satisfies Readonly<Record<string, Reporter>>;

interface Options {
  readonly json?: boolean;
  readonly reporter: keyof typeof REPORTERS;
}

export function register(command: Command): void {
  command
    .argument('[file]', 'edge file, or one of a git revision, such as main:edge.yaml', 'edge.yaml')
    .addOption(
      new Option('-r, --reporter <name>', 'how to print the classes; `markdown` is a table')
        .choices(Object.keys(REPORTERS))
        .default('text'),
    )
    .option('--json', 'the same as `-r json`')
    .action(async (file: string, { reporter, json = false }: Options) => {
      process.exitCode = await classes(file, json ? 'json' : reporter);
    });
}

async function classes(file: string, reporter: Options['reporter']): Promise<number> {
  const checked = await loadRevision(file);
  if (hasErrors(checked.diagnostics)) {
    process.stderr.write(renderDiagnostics(checked.diagnostics, { color: wantsColor(process.stderr) }));
    return EXIT.configInvalid;
  }
  process.stdout.write(REPORTERS[reporter](classesOf(usable(checked).config)));
  return EXIT.ok;
}
