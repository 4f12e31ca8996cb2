import cluster, { type Worker } from 'node:cluster';
import { InvalidArgumentError } from 'commander';
import type { LostEvents } from '../events/lost.ts';
import type { EventSink } from '../events/ndjson.ts';
import { type Admin, listenForAdmin } from '../server/admin.ts';
import { isSingleExecutable } from '../loading/single_executable.ts';
import { type Family, addedUp } from '../server/admin_metrics.ts';
import { lostFamily } from '../server/process_metrics.ts';
import { EXIT } from './exit_codes.ts';

/**
 * Several processes behind one listener, with Node's cluster module: the first process listens and passes
 * connections on, the others serve. Each has the whole configuration and its own breakers and pools, like the
 * machines of a real edge. The first process has the state that they share (`worker_sharing.ts`), writes all
 * events and coordinates the shutdown.
 */

/** An order to a worker. */
type Order = { readonly order: 'stop' } | { readonly order: 'count'; readonly serial: number };

type WorkerMessage =
  | { readonly event: Parameters<EventSink['write']>[0] }
  | { readonly counts: readonly Family[]; readonly serial: number };

/** How long a worker may take to report its counts, in ms. */
const COUNT_MS = 1_000;

/** A worker that exits sooner than this after its start is not restarted without end. */
const SHORT_LIFE_MS = 2_000;
const SHORT_LIVES = 5;

/** Whether this process is a worker, started by the first process. */
export const isWorker = cluster.isWorker;

// Node starts workers with the path of the main file as first argument. The binary has none: its arguments follow at once.
if (isSingleExecutable && cluster.isPrimary) {
  const [, , verb = '', ...rest] = process.argv;
  cluster.setupPrimary({ exec: verb, args: rest });
}

/** Whether this worker prints the start messages. */
const isFirstWorker = cluster.worker?.id === 1;

/** The first worker prints what concerns all of them. */
export const isQuiet = isWorker && !isFirstWorker;

export interface Supervision {
  readonly sink: EventSink | null;
  /** Counts events that the first process could not write. */
  readonly lost: LostEvents;
  readonly say: (text: string) => void;
  /** Called with each new worker. */
  readonly began: (worker: Worker) => void;
  /** Signals that stop all; a second one ends them at once. */
  readonly signals: readonly NodeJS.Signals[];
  /** Where health and the counts of all workers are served; null for nowhere. */
  readonly admin: { readonly host: string; readonly port: number } | null;
}

/**
 * Starts `count` workers with the arguments of this process, restarts those that end, and resolves with the
 * exit code.
 */
export function superviseWorkers(
  count: number,
  { sink, lost, say, began, signals, admin: adminPlace }: Supervision,
): Promise<number> {
  return new Promise((resolve) => {
    const beganMs = new Map<number, number>();
    let isStopping = false;
    let shortLives = 0;
    let code: number = EXIT.ok;
    const listening = new Set<number>();
    const begin = (): void => {
      const worker = forked(sink, began);
      beganMs.set(worker.id, performance.now());
      returnUnaccepted(worker, () => listening.size > 0);
    };
    const stop = (): void => {
      if (isStopping) {
        for (const worker of workers()) worker.process.kill('SIGKILL');
        return;
      }
      isStopping = true;
      const order: Order = { order: 'stop' };
      for (const worker of workers()) worker.send(order);
    };
    cluster.on('exit', (worker, status, signal) => {
      const livedMs = performance.now() - (beganMs.get(worker.id) ?? 0);
      beganMs.delete(worker.id);
      if (!isStopping) {
        shortLives = livedMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
        // An immediate failure, such as a taken port or a file with errors, would be the same in every
        // worker.
        const isHopeless =
          (status !== 0 && livedMs < SHORT_LIFE_MS && signal === null) || shortLives > SHORT_LIVES;
        if (isHopeless) {
          code = status === 0 ? EXIT.runtime : status;
          stop();
        } else {
          say(`worker ${worker.process.pid} ended (${signal ?? status}); starting another one`);
          begin();
        }
      }
      // A failed worker may still be in the cluster's list until its channel is closed.
      if (beganMs.size > 0) return;
      void admin?.close();
      resolve(code);
    });
    for (const signal of signals) process.on(signal, stop);
    let admin: Admin | null = null;
    const isReady = (): boolean => !isStopping && listening.size > 0;
    cluster.on('listening', (worker) => {
      listening.add(worker.id);
      // A worker may have missed an order that was sent before it listened.
      const order: Order = { order: 'stop' };
      if (isStopping) worker.send(order);
    });
    cluster.on('exit', ({ id }) => void listening.delete(id));
    if (adminPlace !== null) {
      const families = async () => addedUp([await countOfAll(), [lostFamily(lost.counts())]]);
      void listenForAdmin({ isReady, families }, adminPlace).then((opened) => {
        if ('problem' in opened) say(opened.problem);
        else {
          admin = opened;
          say(`  metrics and health of all workers: http://127.0.0.1:${opened.bound.port}/metrics`);
        }
        return null;
      });
    }
    for (let at = 0; at < count; at++) begin();
  });
}

/** Starts a worker whose events go to the sink. */
function forked(sink: EventSink | null, began: Supervision['began']): Worker {
  const worker = cluster.fork();
  worker.on('error', () => undefined); // sending to a worker that has just ended fails
  worker.on('message', (report: WorkerMessage) => {
    if ('event' in report) sink?.write(report.event);
  });
  began(worker);
  return worker;
}

/** A message with which Node's cluster module passes a connection to a worker. Its answer has the number as `ack`. */
interface Handover {
  readonly act?: string;
  readonly seq?: number;
}

/**
 * Passes connections that a worker had not accepted when it was killed to another one. Node keeps them open and forgets
 * them, and it does not notice that such a worker has disconnected. A worker accepts a connection before it reads from
 * it, so that none of its bytes are lost.
 */
function returnUnaccepted({ process: child }: Worker, hasOthers: () => boolean): void {
  const passed = new Map<number, { close: () => void }>();
  let isDisconnected = false;
  const send = child.send.bind(child) as (...sent: unknown[]) => boolean;
  child.send = (...sent: unknown[]) => {
    const [{ act, seq }, connection] = sent as [Handover, { close: () => void }];
    if (act === 'newconn' && seq !== undefined) passed.set(seq, connection);
    return send(...sent);
  };
  child.on('internalMessage', ({ ack }: { readonly ack?: number }) => {
    if (ack !== undefined) passed.delete(ack);
  });
  child.once('disconnect', () => void (isDisconnected = true));
  // The process has ended, and all its messages have been read.
  child.once('close', () => {
    if (!isDisconnected) child.emit('disconnect');
    for (const [ack, connection] of passed) {
      if (hasOthers()) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
      else connection.close();
    }
  });
}

let serial = 0;

/** What all workers have counted since their start. */
async function countOfAll(): Promise<Family[]> {
  const asked = ++serial;
  const all = await Promise.all(
    workers().map(
      (worker) =>
        new Promise<readonly Family[]>((resolve) => {
          const settle = (counts: readonly Family[]): void => {
            clearTimeout(timer);
            worker.off('message', onMessage);
            resolve(counts);
          };
          const onMessage = (report: WorkerMessage): void => {
            if ('counts' in report && report.serial === asked) settle(report.counts);
          };
          const timer = setTimeout(() => settle([]), COUNT_MS);
          worker.on('message', onMessage);
          const order: Order = { order: 'count', serial: asked };
          worker.send(order);
        }),
    ),
  );
  return addedUp(all);
}

/** The order to stop may arrive before this worker serves. */
let isStopOrdered = false;
if (isWorker) {
  process.on('message', (message: Partial<Order>) => {
    if (message.order === 'stop') isStopOrdered = true;
  });
}

/** The event sink of a worker: it sends events to the first process. */
export function workerSink(): EventSink {
  return {
    write: (event) => {
      const report: WorkerMessage = { event };
      if (process.connected) process.send?.(report);
    },
    close: async () => undefined,
  };
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
  // The terminal signals all processes; the first one gives the orders.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('SIGTERM', once);
}

/** Lets a worker end once its messages are sent; one that could not start ends with its code. */
export function leave(code: number): void {
  // A worker that only disconnects exits with 0.
  if (code !== EXIT.ok) process.exit(code);
  if (process.connected) process.disconnect?.();
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/** Parses a number of processes from the command line. */
export function readWorkers(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a number of processes from 1 to 99.');
}
