import type { Worker } from 'node:cluster';
import { type Family, addedUp } from '../server/admin_metrics.ts';
import type { Order, WorkerMessage } from './workers.ts';

/** How long a worker may take to report its counts, in ms. */
const COUNT_MS = 1_000;

/** What workers have counted, for the first process. */
export interface WorkerCounts {
  /** Hears the reports of a new worker. */
  readonly hear: (worker: Worker) => void;
  readonly ended: (worker: Worker) => void;
  /** What all have counted since the start. */
  readonly ask: () => Promise<Family[]>;
}

/**
 * No sum becomes smaller, which a collector would take for a restart of all workers: what a worker reported last counts while
 * it does not answer, and after its end.
 */
export function workerCounts(): WorkerCounts {
  /** By worker that has not ended. */
  const last = new Map<Worker, readonly Family[]>();
  let ofEnded: readonly Family[] = [];
  let serial = 0;
  return {
    hear: (worker) => {
      last.set(worker, []);
      worker.on('message', (report: WorkerMessage) => {
        // A report may be read after the end.
        if ('counts' in report && last.has(worker)) last.set(worker, report.counts);
      });
    },
    ended: (worker) => {
      const counts = last.get(worker)?.filter(({ type }) => type !== 'gauge') ?? [];
      ofEnded = addedUp([ofEnded, counts]);
      last.delete(worker);
    },
    ask: async () => {
      const asked = ++serial;
      await Promise.all(Array.from(last.keys(), (worker) => answered(worker, asked)));
      return addedUp([ofEnded, ...last.values()]);
    },
  };
}

/** Resolves when a worker has reported its counts, has ended, or does not answer in time. */
function answered(worker: Worker, serial: number): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('exit', settle);
      resolve();
    };
    const onMessage = (report: WorkerMessage): void => {
      if ('counts' in report && report.serial === serial) settle();
    };
    const timer = setTimeout(settle, COUNT_MS);
    worker.on('message', onMessage).once('exit', settle);
    const order: Order = { order: 'count', serial };
    worker.send(order);
  });
}
