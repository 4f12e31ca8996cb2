import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How the command line is started. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

const MAIN = join('node_modules', 'edgeproof', 'dist', 'lib', 'main.cjs');

/**
 * The command line of a project: that of the settings, of the project, or of this machine; null without any. Nothing is
 * downloaded.
 */
export function programFor(
  folder: string | null,
  configured: readonly string[],
  path = process.env['PATH'] ?? '',
): Program | null {
  const [command, ...args] = configured;
  if (command !== undefined) return { command, args };
  const local = folder === null ? null : join(folder, MAIN);
  if (local !== null && existsSync(local)) return { command: 'node', args: [local] };
  for (const each of path.split(delimiter).filter((name) => name !== '')) {
    if (process.platform !== 'win32' && existsSync(join(each, 'edgeproof')))
      return { command: join(each, 'edgeproof'), args: [] };
    // Commands of packages are scripts of a shell there, which cannot be started without one.
    const main = join(each, MAIN);
    if (process.platform === 'win32' && existsSync(main)) return { command: 'node', args: [main] };
  }
  return null;
}

/** What a command line printed; `code` is null if it was ended. */
export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly problems: string;
}

const OUTPUT_CHARACTERS = 32_000_000;

/** Runs a command line to its end. Never throws: a program that cannot be started is a problem. */
export function run(
  { command, args }: Program,
  line: readonly string[],
  folder: string,
  signal?: AbortSignal,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args, ...line], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(signal && { signal }),
    });
    const output = { out: '', problems: '' };
    for (const [name, stream] of [
      ['out', child.stdout],
      ['problems', child.stderr],
    ] as const)
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (output[name].length + text.length > OUTPUT_CHARACTERS) child.kill();
        else output[name] += text;
      });
    child.once('error', (error) => {
      resolve({ code: null, out: '', problems: `${command} cannot be started: ${error.message}` });
    });
    child.once('close', (code) => resolve({ code, ...output }));
  });
}
