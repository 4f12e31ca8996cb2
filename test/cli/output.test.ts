import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit_codes.ts';
import { VERBS, VERB_NAMES } from '../../src/cli/verbs.ts';
import { IS_FULL } from '../random.ts';
import { MAIN } from './main_file.ts';
import { exampleFolder, wordsOf } from './table/folder.ts';

/** What serves, asks, or needs an instance, a queue or what other runs have left. */
const OTHERS = new Set([
  'dev',
  'http',
  'record',
  'serve',
  'playground',
  'mcp',
  'lsp',
  'repl',
  'keys',
  'session-keys',
  'restrictions',
  'export',
  'apply',
  'backup',
  'restore',
  'store',
  'deliver',
  'merge',
]);
/** Lines that print, of verbs whose first example does so only once or not at all. */
const PRINTING: Readonly<Record<string, string>> = {
  init: 'init --yes --force',
  fmt: 'fmt policy.yml',
  cert: 'cert app.localhost --force',
  diff: 'diff edge.yaml edge.yaml',
};
/** What prints without a verb. */
const BARE = ['--version', '--help', 'check --help'];
/** A line of every other verb; of every tenth one if the run is small, because all start processes. */
const LINES = VERB_NAMES.filter((name) => !OTHERS.has(name))
  .filter((_, index) => IS_FULL || index % 10 === 0)
  .map((name) => PRINTING[name] ?? VERBS[name].examples[0]![0]);

const folder = exampleFolder();
// `verify-proof` reads what `prove` wrote.
execFileSync(process.execPath, [MAIN, ...wordsOf(VERBS.prove.examples[1]![0])], { cwd: folder });

/** Runs the command with its standard output going to a file, or to a pipe whose reader leaves at once. */
function run(
  line: string,
  out: number | 'pipe',
): Promise<{ readonly code: number | null; readonly text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...wordsOf(line)], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', out, 'pipe'],
    });
    let text = '';
    child.stderr!.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stdout?.destroy();
    child.once('close', (code) => resolve({ code, text }));
  });
}

describe.each([...BARE, ...LINES])('edgeproof %s', (line) => {
  it.runIf(existsSync('/dev/full'))('says that its output cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const { code, text } = await run(line, full);
    closeSync(full);
    expect(text).toContain('cannot write to standard output: the disk is full; free some space');
    expect(text).not.toMatch(/^ {4}at /m);
    expect(code).toBe(EXIT.runtime);
  });

  it('ends without a word when its reader has gone', async () => {
    const { code, text } = await run(line, 'pipe');
    expect(text).not.toMatch(/^ {4}at |EPIPE|cannot write|a bug in edgeproof/m);
    expect([EXIT.ok, EXIT.runtime]).toContain(code);
  });
});

it('keeps its exit code when the reader of its errors has gone', async () => {
  const child = spawn(process.execPath, [MAIN, 'chek'], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.destroy();
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(EXIT.usage);
});
