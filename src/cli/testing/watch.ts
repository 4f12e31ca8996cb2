import { EXIT } from '../exit_codes.ts';
import { FileError } from '../../project_files/load_config.ts';
import { watchFile } from '../watch.ts';
import { counted } from '../../diagnostics/message_text.ts';
import { stderr, stdout } from '../output.ts';

/** The result of a run, and the files that each scenario file depends on. */
export interface OneRun {
  readonly code: number;
  readonly madeOf: ReadonlyMap<string, readonly string[]>;
}

/**
 * Runs scenario files, and again those that a change affects: the file itself, or the edge or policy that it
 * names. Ends on a signal with the exit code of the last run.
 */
export async function watchScenarios(
  files: readonly string[],
  run: (files: readonly string[]) => Promise<OneRun>,
): Promise<number> {
  const watchers = new Map<string, { readonly close: () => void }>();
  const usedBy = new Map<string, Set<string>>();
  let code: number = EXIT.ok;
  let running = Promise.resolve();

  const learn = (madeOf: OneRun['madeOf']): void => {
    for (const [scenario, parts] of madeOf) {
      for (const part of parts) {
        if (!usedBy.has(part)) usedBy.set(part, new Set());
        usedBy.get(part)!.add(scenario);
        if (watchers.has(part)) continue;
        watchers.set(
          part,
          watchFile(
            part,
            {
              changed: () => {
                stdout.write(`${part} changed\n`);
                void again([...(usedBy.get(part) ?? [])]);
              },
              deleted: () => stdout.write(`${part} was deleted; its cases run again when it is back\n`),
            },
            false,
          ),
        );
      }
    }
  };
  const after = async (before: Promise<void>, some: readonly string[]): Promise<void> => {
    await before;
    try {
      const ran = await run(some);
      code = ran.code;
      learn(ran.madeOf);
      stdout.write(`watching ${counted(watchers.size, 'file')}; Ctrl+C ends\n`);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      stderr.write(`${error.message}\n`);
    }
  };
  const again = (some: readonly string[]): Promise<void> => (running = after(running, some));
  await again(files);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  for (const watcher of watchers.values()) watcher.close();
  return code;
}
