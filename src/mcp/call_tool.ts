import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { RefusedInput, allowedPath } from './read_access.ts';
import { shortened } from './short_answer.ts';
import type { Tool, ToolLine } from './tools.ts';
import type { VerbProcesses, VerbResult } from './verb_process.ts';

/** The surroundings of a call. */
export interface ToolSetting {
  readonly processes: VerbProcesses;
  /** The folders that the client allows. */
  readonly folders: readonly string[];
  readonly signal: AbortSignal;
}

/** The structured content of every tool. */
export interface ToolAnswer {
  readonly [key: string]: unknown;
  readonly exitCode: number;
  readonly result: unknown;
  /** Present if something was left out. */
  readonly shortened?: string;
}

const MORE = 'output was truncated; call again with `detail: "full"` for everything';

/** Runs a tool. Throws RefusedInput, with a message for the client. */
export async function callTool(tool: Tool, input: object, setting: ToolSetting): Promise<ToolAnswer> {
  const { processes, folders, signal } = setting;
  const line = tool.line(input as never);
  const { args, folder } = argumentsOf(line, folders);
  const { input: text } = line;
  const result = await processes.run({
    args,
    folder,
    folders,
    signal,
    ...(text !== undefined && { input: text }),
  });
  const found = tool.isText === true ? textOf(result) : jsonOf(result);
  const picked = tool.pick === undefined ? found : tool.pick(found as never);
  const { detail } = input as { readonly detail?: 'short' | 'full' };
  const { value, isShortened } = shortened(picked, detail === 'full');
  return { exitCode: result.exitCode, result: value, ...(isShortened && { shortened: MORE }) };
}

/** The arguments, with whole paths, and the folder of the first one. */
function argumentsOf(
  { verb, options, pathOptions = [], paths = [], rest = [], input }: ToolLine,
  folders: readonly string[],
): { readonly args: readonly string[]; readonly folder: string } {
  const isInput = (path: string): boolean => path === '-' && input !== undefined;
  const resolved = (path: string): string => (isInput(path) ? path : allowedPath(path, folders));
  const before = pathOptions.map(([option, path]) => [option, resolved(path)] as const);
  const after = paths.map(resolved);
  const first = [...before.map(([, path]) => path), ...after].find((path) => !isInput(path));
  const folder = first === undefined ? folders[0]! : folderOf(first);
  return {
    // Options end here: a value may begin with a dash.
    args: [verb, ...options, ...before.map(([option, path]) => `${option}=${path}`), '--', ...after, ...rest],
    folder,
  };
}

function folderOf(path: string): string {
  return statSync(path).isDirectory() ? path : dirname(path);
}

function jsonOf({ out, problems }: VerbResult): unknown {
  try {
    return JSON.parse(out);
  } catch {
    throw new RefusedInput(problems.trim() || out.trim() || 'the tool gave no result');
  }
}

function textOf({ exitCode, out, problems }: VerbResult): unknown {
  if (exitCode !== 0) throw new RefusedInput(problems.trim());
  return { text: out };
}
