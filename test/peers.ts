import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Other implementations that tests compare with. `npm run peers` installs them, which the full run does; a test whose
 * peer is not there is skipped, and the reason is printed.
 */
const FOLDER = new URL('../peers/', import.meta.url);

/** Whether the libraries are there. */
export const hasLibraries = existsSync(new URL('node_modules/stripe/package.json', FOLDER));

/** Loads a library of `peers/package.json`. */
export const requirePeer = createRequire(new URL('package.json', FOLDER));

/** Whether the libraries are there; prints what is skipped where they are not. */
export function hasLibrariesFor(what: string): boolean {
  if (!hasLibraries) skipped(what, 'the libraries of peers/ are not installed (npm run peers)');
  return hasLibraries;
}

/** Whether a program of this machine runs with these arguments; prints what is skipped where it does not. */
export function hasProgram(program: string, args: readonly string[], what: string): boolean {
  const runs = spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  if (!runs) skipped(what, `\`${[program, ...args].join(' ')}\` does not run here`);
  return runs;
}

/** Prints why something is skipped here. */
export function skipped(what: string, reason: string): void {
  process.stderr.write(`skipped: ${what}: ${reason}\n`);
}

/** Debian's own, which has the modules that Debian packages. */
export const PYTHON = '/usr/bin/python3';
