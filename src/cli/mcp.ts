import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { isSingleExecutable } from '../loading/single_executable.ts';
import { type ReadableText, serveMcp } from '../mcp/server.ts';
import { EXIT } from './exit_codes.ts';
import { FileError } from '../project_files/load_config.ts';
import { mustExist } from './named_files.ts';
import { addText } from './option_values.ts';
import { STARTERS } from './starters.ts';
import { watchOutput } from './output.ts';
import { packageVersion } from './version.ts';

/** `edgeproof mcp`: tools for assistants, over standard input and output. */
export function register(command: Command): void {
  command
    .option(
      '--root <folder>',
      'folder that tools may read, if the client names none; can be repeated; default: this folder',
      addText,
      [],
    )
    .action(async ({ root }: { readonly root: readonly string[] }) => {
      watchOutput();
      if (isSingleExecutable) throw new FileError(NOT_IN_BINARY);
      for (const folder of root) mustBeFolder(folder);
      const folders = root.length > 0 ? root : [process.cwd()];
      const resources = [...schemas(), ...examples()];
      const isRead = await serveMcp({ version: packageVersion(), folders, resources });
      if (!isRead) process.exitCode = EXIT.runtime;
    });
}

/** The binary takes no options of Node, so its processes cannot be restricted. */
const NOT_IN_BINARY =
  'the single-file binary cannot run tools that only read; install the package and run `npx edgeproof mcp`';

function mustBeFolder(path: string): void {
  mustExist(path);
  if (!statSync(path).isDirectory()) throw new FileError(`--root ${path}: this is a file; name its folder`);
}

const KINDS = ['edge', 'policy', 'scenario', 'property'] as const;

function schemas(): ReadableText[] {
  return KINDS.map((kind) => ({
    name: `schema of ${kind} files`,
    uri: `edgeproof://schema/${kind}.json`,
    description: `Every key of ${kind} files with its type, limits and default (JSON Schema)`,
    mimeType: 'application/schema+json',
    read: () => readFileSync(new URL(`../../schema/${kind}.json`, import.meta.url), 'utf8'),
  }));
}

/** The files that `init` writes. */
function examples(): ReadableText[] {
  return STARTERS.filter(({ path }) => /\.ya?ml$/.test(path) && !path.startsWith('.')).map(
    ({ path, text }) => ({
      name: `example ${path}`,
      uri: `edgeproof://example/${path}`,
      description: `A complete ${path}, with comments`,
      mimeType: 'application/yaml',
      read: () => text,
    }),
  );
}
