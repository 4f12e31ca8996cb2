import type { Command } from 'commander';
import { type RequestClass, classesMarkdown, classesOf, classesText } from '../analysis/classes.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { usable } from '../edgeproof.ts';
import { loadRevision } from '../project_files/load_revision.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { wantsColor } from './terminal.ts';
import { reporterOption } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr, stdout } from './output.ts';

type Reporter = (classes: readonly RequestClass[]) => string;

const REPORTERS = {
  text: classesText,
  json: (all) => `${JSON.stringify(all, null, 2)}\n`,
  markdown: classesMarkdown,
} satisfies Readonly<Record<string, Reporter>>;

interface Options extends ServiceOptions {
  readonly reporter: keyof typeof REPORTERS;
}

export function register(command: Command): void {
  const does = 'how to print the classes; `markdown` is a table';
  reporterOption(serviceNameOption(command), Object.keys(REPORTERS), { does })
    .argument('[file]', `edge file, or one of a git revision, such as main:edge.yaml${usualText('edge')}`)
    .action(async (file: string | undefined, options: Options) => {
      process.exitCode = await classes(namedOrUsual(file, 'edge'), options);
    });
}

async function classes(file: string, { reporter, serviceName }: Options): Promise<number> {
  const checked = await loadRevision(file, { serviceName });
  if (hasErrors(checked.diagnostics)) {
    stderr.write(renderDiagnostics(checked.diagnostics, { color: wantsColor(stderr) }));
    return EXIT.configInvalid;
  }
  stdout.write(REPORTERS[reporter](classesOf(usable(checked).config)));
  return EXIT.ok;
}
