import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { FileResult } from '../../simulator/result.ts';
import { runScenarios } from './run_tests.ts';
import { selector } from './select.ts';

/** What a thread is told: plain data. */
interface Order {
  readonly filter: readonly string[];
  readonly tag: readonly string[];
  readonly repeat: number;
  readonly seed: number | string | null;
}

interface ThreadData {
  readonly edgeproofFiles: readonly string[];
  readonly order: Order;
}

/** Runs files on several threads and gives the results in the order of the files. */
export async function runOnThreads(
  files: readonly string[],
  order: Order,
  jobs: number,
): Promise<readonly FileResult[]> {
  const threads = Math.min(jobs, files.length);
  const parts = Array.from({ length: threads }, (_, thread) =>
    files.filter((_file, index) => index % threads === thread),
  );
  const results = (await Promise.all(parts.map((part) => onThread(part, order)))).flat();
  const byFile = new Map(results.map((result) => [result.file, result]));
  return files.flatMap((file) => byFile.get(file) ?? []);
}

function onThread(edgeproofFiles: readonly string[], order: Order): Promise<readonly FileResult[]> {
  return new Promise((resolve, reject) => {
    const data: ThreadData = { edgeproofFiles, order };
    const worker = new Worker(new URL(import.meta.url), { workerData: data });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

// This file is its own thread: the same module, begun with an order.
if (!isMainThread && (workerData as Partial<ThreadData> | null)?.edgeproofFiles !== undefined) {
  const { edgeproofFiles, order } = workerData as ThreadData;
  const selects = selector({ filters: order.filter, tags: order.tag, shard: null });
  const results = await runScenarios(edgeproofFiles, {
    selects: selects as Exclude<typeof selects, { problem: string }>,
    seed: order.seed,
    repeat: order.repeat,
    bail: false,
    lines: true,
    told: () => {},
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
  parentPort!.postMessage(results);
}
