import * as vscode from 'vscode';
import { type Program, type Ran, programFor, run } from './program';

const NOT_FOUND =
  'edgeproof is not installed: run `npm install --save-dev edgeproof` in this folder, or set edgeproof.command.';

/** The folder that a file belongs to, on disk. */
export function folderOf(uri: vscode.Uri | undefined): string | null {
  const own = uri && vscode.workspace.getWorkspaceFolder(uri);
  return (own ?? vscode.workspace.workspaceFolders?.[0])?.uri.fsPath ?? null;
}

/** The command line for a file; null if there is none. */
export function programOf(uri: vscode.Uri | undefined): Program | null {
  const command = vscode.workspace.getConfiguration('edgeproof', uri).get<readonly string[]>('command', []);
  return programFor(folderOf(uri), command);
}

/** Runs a command line in the folder of a file. */
export async function runFor(
  uri: vscode.Uri | undefined,
  line: readonly string[],
  token?: vscode.CancellationToken,
): Promise<Ran> {
  const program = programOf(uri);
  const folder = folderOf(uri);
  if (program === null || folder === null) return { code: null, out: '', problems: NOT_FOUND };
  const controller = new AbortController();
  const subscription = token?.onCancellationRequested(() => controller.abort());
  const ran = await run(program, line, folder, controller.signal);
  subscription?.dispose();
  return ran;
}

/** The JSON that a command line printed; null, with a message, if it is none. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what its command line prints
export function jsonOf<T>({ out, problems }: Ran): { readonly value: T } | { readonly problem: string } {
  try {
    return { value: JSON.parse(out) as T };
  } catch {
    return { problem: problems.trim() || out.trim() || 'edgeproof printed nothing' };
  }
}
