import { InvalidArgumentError } from 'commander';
import type { Family } from '../server/admin_metrics.ts';
import { EXIT } from './exit_codes.ts';

/** Workers, which the first process starts (`supervision.ts`): what they send to it, and its orders. */

/** An order to a worker. */
export type Order =
  | { readonly order: 'stop' | 'answer' | 'read_keys' | 'report' }
  | { readonly order: 'count'; readonly serial: number };

/** What the first process gets from a worker. */
export type WorkerMessage =
  /** Events as JSON. */
  | { readonly events: readonly string[] }
  | { readonly counts: readonly Family[]; readonly serial: number }
  /** To the order to answer. */
  | { readonly answers: true };

// `node:cluster` loads `node:child_process`. Only a process that another one has started, with a channel, may be a worker.
const own = process.channel === undefined ? undefined : process.getBuiltinModule('node:cluster').worker;

/** Whether this process is a worker, started by the first process. */
export const isWorker = own !== undefined;

/** Whether this worker prints the start messages. */
const isFirstWorker = own?.id === 1;

/** The first worker prints what concerns all of them. */
export const isQuiet = isWorker && !isFirstWorker;

/** Orders may arrive before this worker serves. */
let isStopOrdered = false;
let areKeysOrdered = false;
let isReportOrdered = false;
if (isWorker) {
  process.on('message', (message: Partial<Order>) => {
    if (message.order === 'stop') isStopOrdered = true;
    else if (message.order === 'read_keys') areKeysOrdered = true;
    else if (message.order === 'report') isReportOrdered = true;
    else if (message.order === 'answer') process.send?.({ answers: true } satisfies WorkerMessage);
  });
  // Closing a terminal signals all processes, also those that are starting; the first one gives the orders.
  process.on('SIGHUP', () => undefined);
}

/** Whether this process prints that it has reloaded: of several workers, one does. */
export const reportsReloads = (): boolean => !isWorker || isReportOrdered;

/** Calls back when the first process orders to read the keys again, or has done so before this worker served. */
export function whenKeysOrdered(read: () => void): void {
  if (areKeysOrdered) read();
  process.on('message', ({ order }: Partial<Order>) => {
    if (order === 'read_keys') read();
  });
}

/** Resolves with the exit code when the first process orders the end, or is gone. */
export function untilOrdered(counts: () => readonly Family[]): Promise<number> {
  return new Promise((resolve) => takeOrders(counts, () => resolve(EXIT.ok)));
}

function takeOrders(counts: () => readonly Family[], stop: () => void): void {
  let isTold = false;
  const once = (): void => {
    if (isTold) return;
    isTold = true;
    stop();
  };
  if (isStopOrdered) once();
  process.on('message', (message: Order | { readonly order?: undefined }) => {
    if (message.order === 'stop') once();
    else if (message.order === 'count') {
      const report: WorkerMessage = { counts: counts(), serial: message.serial };
      process.send?.(report);
    }
  });
  process.once('disconnect', once);
  // Otherwise Node would end this process at once when the first one is gone, and cut requests in flight.
  own!.exitedAfterDisconnect = true;
  // The terminal signals all processes; the first one gives the orders.
  process.on('SIGINT', () => undefined);
  process.once('SIGTERM', once);
}

/**
 * Runs what a worker does, and ends it with the exit code. One that fails to start ends, too, whatever its channel and
 * connections wait for: the first process starts another one.
 */
export async function endingWith(work: () => Promise<number>): Promise<number> {
  try {
    const code = await work();
    leave(code);
    return code;
  } catch (error) {
    const { reportFailure } = await import('./failure.ts');
    process.exit(reportFailure(error));
  }
}

function leave(code: number): void {
  if (code !== EXIT.ok || !process.connected) process.exit(code);
  process.once('disconnect', () => process.exit(code));
  process.disconnect?.();
}

/** Parses a number of processes from the command line. */
export function readWorkers(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a number of processes from 1 to 99.');
}
