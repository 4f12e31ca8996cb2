import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { FileError } from '../project_files/load_config.ts';
import {
  type Mutated,
  type MutationOptions,
  type MutationResult,
  merged,
  mutate,
} from '../project_files/mutate.ts';
import { ENDED_EARLY, startThread } from './start_thread.ts';

/** The order for a thread, as plain data. */
interface ThreadData {
  readonly mutatedScenario: string;
  readonly options: MutationOptions;
}

type ThreadMessage = { readonly result: MutationResult } | { readonly problem: string };

/**
 * Tries mistakes on several threads; this one takes a share, and finds what is wrong with the file. Throws FileError.
 */
export async function mutateOnThreads(
  path: string,
  options: MutationOptions,
  jobs: number,
): Promise<Mutated> {
  // A share of a share: every `jobs`th of the mistakes of this process.
  const { index: from, of } = options.share ?? { index: 0, of: 1 };
  const shares = Array.from({ length: jobs }, (_, index) => ({
    ...options,
    share: { index: from + index * of, of: of * jobs },
  }));
  const [own, ...others] = shares;
  const running = others.map((share) => onThread(path, share));
  const results = await Promise.allSettled([mutate(path, own), ...running]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const all = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const problems = all.flatMap((each): readonly Diagnostic[] =>
    'diagnostics' in each ? each.diagnostics : [],
  );
  if (hasErrors(problems)) return { diagnostics: problems };
  return merged(all as readonly MutationResult[]);
}

function onThread(path: string, options: MutationOptions): Promise<Mutated> {
  return new Promise((resolve, reject) => {
    const data: ThreadData = { mutatedScenario: path, options };
    const worker = startThread(import.meta.url, { workerData: data });
    worker.once('message', (said: ThreadMessage) => {
      if ('problem' in said) reject(new FileError(said.problem));
      else resolve(said.result);
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new FileError(ENDED_EARLY)));
  });
}

async function runHere({ mutatedScenario, options }: ThreadData): Promise<ThreadMessage> {
  try {
    const result = await mutate(mutatedScenario, options);
    // The first thread reports what is wrong with the file.
    return { result: 'diagnostics' in result ? merged([]) : result };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { problem: error.message };
  }
}

// This file is also the thread: the same module, started with an order.
if (!isMainThread && (workerData as Partial<ThreadData> | null)?.mutatedScenario !== undefined) {
  void runHere(workerData as ThreadData).then((said) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
    parentPort!.postMessage(said);
    return null;
  });
}
