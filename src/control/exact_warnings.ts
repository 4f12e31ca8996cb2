import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { findings } from '../analysis/findings.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import type { ExactWarning } from './api/contract.ts';

interface ThreadData {
  readonly analysedDocument: object;
}

/** Analyses one file after the other, because each takes a processor for seconds. */
let last: Promise<unknown> = Promise.resolve();

/**
 * What `check --exact` finds in an edge file; nothing in a file with errors. Analysed in a thread of its own, so that the
 * edge goes on. Rejects if the thread fails.
 */
export function exactWarnings(document: object): Promise<readonly ExactWarning[]> {
  const found = last.then(() => inThread({ analysedDocument: document }));
  last = found.catch(() => undefined);
  return found;
}

async function inThread(data: ThreadData): Promise<readonly ExactWarning[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  const { promise, resolve, reject } = Promise.withResolvers<readonly ExactWarning[]>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the analysis ended without a result')));
  return promise;
}

function analyse(document: object): readonly ExactWarning[] {
  const { config, diagnostics } = checkWholeEdge({ value: document });
  if (config === null || hasErrors(diagnostics)) return [];
  return findings(config).map(({ code, basis, message, pointer }) => ({
    code,
    severity: 'warning',
    basis,
    message,
    pointer,
  }));
}

// This file is also the thread: the same module, started with a document.
const { analysedDocument } = (workerData ?? {}) as Partial<ThreadData>;
if (!isMainThread && analysedDocument !== undefined)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
  parentPort!.postMessage(analyse(analysedDocument));
