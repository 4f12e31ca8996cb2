import { existsSync } from 'node:fs';
import { makeFolder } from './folders.ts';
import { writeText } from './write_file.ts';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from './exit_codes.ts';
import { STARTERS, starterText } from './starters.ts';
import { stderr, stdout } from './output.ts';

interface Options {
  readonly yes?: boolean;
  readonly force?: boolean;
}

export function register(command: Command): void {
  command
    .argument('[folder]', 'folder of the project, created if it does not exist; default: this folder')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--force', 'replace existing files')
    .action(async (folder: string | undefined, options: Options) => {
      if (folder !== undefined) {
        makeFolder(folder);
        process.chdir(folder);
      }
      process.exitCode = await init(options, folder);
    });
}

async function init({ yes, force }: Options, folder: string | undefined): Promise<number> {
  const there = STARTERS.filter(({ path }) => existsSync(path)).map(({ path }) => path);
  if (there.length > 0 && force !== true) {
    stderr.write(
      `nothing was written: ${there.join(', ')} ${there.length === 1 ? 'exists; --force replaces it' : 'exist; --force replaces them'}\n`,
    );
    return EXIT.usage;
  }
  if (yes !== true && process.stdin.isTTY && !(await isAgreed())) {
    stdout.write('nothing was written\n');
    return EXIT.ok;
  }
  const hasLockFile = existsSync('package-lock.json');
  for (const starter of STARTERS) {
    makeFolder(dirname(starter.path));
    writeText(starter.path, starterText(starter, hasLockFile));
    stdout.write(`wrote ${starter.path}\n`);
  }
  // Where npx ran this, it is needed for the next commands, too.
  const program = process.env['npm_command'] === 'exec' ? 'npx edgeproof' : 'edgeproof';
  const next = ['check edge.yaml', 'test', 'dev edge.yaml'].map((verb) => `  ${program} ${verb}\n`);
  stdout.write(`\nnext:\n${folder === undefined ? '' : `  cd ${folder}\n`}${next.join('')}`);
  return EXIT.ok;
}

async function isAgreed(): Promise<boolean> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: stdout.stream() });
  const list = STARTERS.map(({ path }) => `  ${path}`).join('\n');
  stdout.write(`These files will be written:\n${list}\n`);
  lines.setPrompt('Continue? [Y/n] ');
  lines.prompt();
  for await (const line of lines) {
    if (/^\s*(?:y|yes)?\s*$/i.test(line)) return true;
    if (/^\s*(?:n|no)\s*$/i.test(line)) return false;
    lines.prompt();
  }
  // Ctrl-C or Ctrl-D, which leave the cursor behind the question.
  stdout.write('\n');
  return false;
}
