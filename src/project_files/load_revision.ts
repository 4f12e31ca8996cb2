import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Checked } from '../edge/document/check.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { filesOfRevision } from './files_of_revision.ts';
import { kindOfFile } from './file_kind.ts';
import { FileError, type LoadOptions, loadConfigText } from './load_config.ts';
import { checkPolicyEdge, loadEdgeOrPolicy, policyFile } from './policy_edge.ts';

const run = promisify(execFile);
const FILE_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Reads and checks an edge file or a traffic policy, or one of a git revision, written `main:edge.yaml`: files that it names are read from
 * the same revision, certificates from the working tree. Throws FileError.
 */
export async function loadRevision(name: string, options: LoadOptions = {}): Promise<Checked> {
  const colon = name.indexOf(':');
  if (colon <= 0 || existsSync(name)) return loadEdgeOrPolicy(name, options);
  try {
    // `--end-of-options` keeps a name that begins with a dash from being an option.
    const { stdout } = await run('git', ['show', '--end-of-options', relative(name, colon)], {
      maxBuffer: FILE_LIMIT_BYTES,
    });
    if ((await kindOfFile(stdout)) === 'policy')
      return await checkPolicyEdge(policyFile(name, stdout), {}, options);
    return await loadConfigText(name, stdout, { ...options, files: filesOfRevision(name) });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') {
      const message = `cannot read ${name}: there is no such file, and git, which reads revisions, is not installed`;
      throw new FileError(`${message}; install git, or name a file`);
    }
    const cause = firstLine(errorText(error)).replace(/^fatal: |\.$/g, '');
    throw new FileError(
      `cannot read ${name}: there is no such file, and git says: ${cause}; ${cureFor(cause)}`,
    );
  }
}

function cureFor(cause: string): string {
  if (/not a git repository/.test(cause)) return 'run this inside a repository, or name a file';
  if (/invalid object name|unknown revision|bad revision/.test(cause))
    return 'fetch the revision, or choose one of `git branch --all`';
  return 'paths in a revision are relative to this folder';
}

/** Paths are relative to this folder, as everywhere on the command line. */
function relative(name: string, colon: number): string {
  const path = name.slice(colon + 1);
  return /^[./]/.test(path) ? name : `${name.slice(0, colon)}:./${path}`;
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.startsWith('fatal:')) ?? text.split('\n')[0]!;
}
