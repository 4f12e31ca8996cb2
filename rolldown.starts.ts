import { fileURLToPath } from 'node:url';
import type { ChunkingContext } from 'rolldown';

/** The files of verbs that start often, and what they always load later. */
const STARTS = {
  check: ['cli/check_files'],
  test: ['cli/test'],
  ingress: ['cli/dev', 'cli/http', 'listening'],
};

const needed = new Map<keyof typeof STARTS, ReadonlySet<string>>();

/**
 * Names the chunk of a module that these verbs need. Each file that a start loads costs 0.3 ms, so they have few: what
 * `check` needs is loaded by all, and `engine` by the other two.
 */
export function chunkOfStarts(id: string, context: ChunkingContext): string | null {
  const isNeeded = (start: keyof typeof STARTS): boolean => {
    if (!needed.has(start)) needed.set(start, importedBy(STARTS[start], context));
    return needed.get(start)!.has(id);
  };
  if (isNeeded('check')) return 'check_files';
  if (isNeeded('test')) return isNeeded('ingress') ? 'engine' : 'test';
  return isNeeded('ingress') ? 'ingress' : null;
}

/** These files, and all that they import other than by `import()`. */
function importedBy(files: readonly string[], context: ChunkingContext): ReadonlySet<string> {
  const ids = new Set(files.map((file) => fileURLToPath(new URL(`src/${file}.ts`, import.meta.url))));
  for (const id of ids)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) ids.add(imported);
  return ids;
}
