import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { CaseResult, FileResult } from '../../simulator/result.ts';
import { FileError } from '../../project_files/load_config.ts';
import { runScenarios } from '../../project_files/run_scenarios.ts';
import { selector } from '../../project_files/select.ts';
import { ENDED_EARLY, startThread } from '../start_thread.ts';

/** The order for a thread, as plain data. */
interface Order {
  readonly filter: readonly string[];
  readonly tag: readonly string[];
  readonly repeat: number;
  readonly seed: number | string | null;
  readonly fillsSnapshots: boolean;
  readonly serviceName: string | undefined;
  readonly explainsPassed: boolean;
}

interface ThreadData {
  readonly edgeproofFiles: readonly string[];
  readonly order: Order;
}

/** A message of a thread: the number of cases run so far, the results of a file, or an error. */
type ThreadMessage =
  | { readonly ran: number }
  | { readonly file: FileResult; readonly made: readonly string[] }
  | { readonly problem: string }
  | { readonly done: true };

/** Callbacks during a run. */
export interface RunCallbacks {
  /** Receives each result, in the order of the files and their cases. */
  readonly onResult: (result: CaseResult) => void;
  /** Counts cases as they run, in any order. */
  readonly ran: (count: number) => void;
  /** Receives the files that each scenario file depends on. */
  readonly made: (path: string, files: readonly string[]) => void;
}

/**
 * Runs files on several threads. Results are reported in file order, as soon as a file and all files before
 * it are complete. Throws a FileError when a thread does.
 */
export async function runOnThreads(
  files: readonly string[],
  order: Order,
  jobs: number,
  { onResult, ran, made }: RunCallbacks,
): Promise<readonly FileResult[]> {
  const threads = Math.min(jobs, files.length);
  const byFile = new Map<string, FileResult>();
  let next = 0;
  const onFile = (result: FileResult, parts: readonly string[]): void => {
    made(result.file, parts);
    byFile.set(result.file, result);
    for (let known = byFile.get(files[next]!); known !== undefined; known = byFile.get(files[++next] ?? ''))
      for (const each of known.cases) onResult(each);
  };
  const shares = Array.from({ length: threads }, (_, thread) =>
    files.filter((_file, index) => index % threads === thread),
  );
  await Promise.all(shares.map((part) => onThread(part, order, onFile, ran)));
  return files.flatMap((file) => byFile.get(file) ?? []);
}

function onThread(
  edgeproofFiles: readonly string[],
  order: Order,
  onFile: (result: FileResult, made: readonly string[]) => void,
  ran: RunCallbacks['ran'],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const data: ThreadData = { edgeproofFiles, order };
    const worker = startThread(import.meta.url, { workerData: data });
    worker.on('message', (said: ThreadMessage) => {
      if ('ran' in said) ran(said.ran);
      else if ('file' in said) onFile(said.file, said.made);
      else if ('problem' in said) reject(new FileError(said.problem));
      else resolve();
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new FileError(ENDED_EARLY)));
  });
}

/** How often a thread reports its progress. */
const SAY_MS = 100;

/** Runs the files of this thread and reports the results. */
async function runHere(
  { edgeproofFiles, order }: ThreadData,
  say: (said: ThreadMessage) => void,
): Promise<void> {
  const selects = selector({ filters: order.filter, tags: order.tag, shard: null });
  const made = new Map<string, readonly string[]>();
  let count = 0;
  let lastMs = performance.now();
  const run = {
    selects: selects as Exclude<typeof selects, { problem: string }>,
    seed: order.seed,
    repeat: order.repeat,
    bail: false,
    fillsSnapshots: order.fillsSnapshots,
    serviceName: order.serviceName,
    explainsPassed: order.explainsPassed,
    lines: true,
    onResult: () => {
      count++;
      if (performance.now() - lastMs < SAY_MS) return;
      lastMs = performance.now();
      say({ ran: count });
      count = 0;
    },
    finished: (file: FileResult) => say({ file, made: made.get(file.file) ?? [] }),
  };
  try {
    await runScenarios(edgeproofFiles, run, (path, files) => made.set(path, files));
    say({ ran: count });
    say({ done: true });
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    say({ problem: error.message });
  }
}

// This file is also the thread: the same module, started with an order.
if (!isMainThread && (workerData as Partial<ThreadData> | null)?.edgeproofFiles !== undefined) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
  void runHere(workerData as ThreadData, (said) => parentPort!.postMessage(said));
}
