import cluster, { type Worker } from 'node:cluster';
import { InvalidArgumentError } from 'commander';
import type { Checked } from '../edge/document/check.ts';
import type { LostEvents } from '../events/lost.ts';
import type { EventSink } from '../events/ndjson.ts';
import { type Admin, listenForAdmin } from '../server/admin.ts';
import { type Family, addedUp } from '../server/admin_metrics.ts';
import { lostFamily } from '../server/process_metrics.ts';
import { EXIT } from './exit_codes.ts';

/**
 * Several processes behind one listener, by Node's own means: the first process listens and hands connections on, the
 * others serve. Each has the whole configuration and state of its own (breakers, pools), as the machines of a real
 * edge have; what must be in common, logins and rate limits, is refused. What they have in common goes through the first one: events, which it writes whole, and the end.
 */

/** Refuses, at the start and at each reload, configurations whose state several processes would have to share. */
export function loadFor(count: number, load: () => Promise<Checked>): () => Promise<Checked> {
  if (count === 1) return load;
  return async () => {
    const checked = await load();
    const { refuseSharedState } = await import('./worker_state.ts');
    refuseSharedState(checked, count);
    return checked;
  };
}

/** What a worker is told. */
type Order = { readonly order: 'stop' } | { readonly order: 'count'; readonly serial: number };

/** What a worker tells. */
type Told =
  | { readonly event: Parameters<EventSink['write']>[0] }
  | { readonly counts: readonly Family[]; readonly serial: number };

/** How long a worker has to say what it has counted, in ms. */
const COUNT_MS = 1_000;

/** A worker that dies sooner than this after its start is not simply started again for ever. */
const SHORT_LIFE_MS = 2_000;
const SHORT_LIVES = 5;

/** Whether this process is one of several, started by the first. */
export const isWorker = cluster.isWorker;

/** Whether this worker is the one that speaks to people when all begin. */
export const isFirstWorker = cluster.worker?.id === 1;

export interface Supervision {
  readonly sink: EventSink | null;
  /** Events that the first process could not write. */
  readonly lost: LostEvents;
  readonly say: (text: string) => void;
  /** Where health and the sum of all counts are told; null for nowhere. */
  readonly adminPort: number | null;
}

/** Starts `count` workers with the arguments of this process, keeps that many alive, and gives the exit code. */
export function superviseWorkers(
  count: number,
  { sink, lost, say, adminPort }: Supervision,
): Promise<number> {
  return new Promise((resolve) => {
    const beganMs = new Map<number, number>();
    let isStopping = false;
    let shortLives = 0;
    let code: number = EXIT.ok;
    const begin = (): void => {
      beganMs.set(forked(sink).id, performance.now());
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
        // What fails at once in the same way fails in all of them: a port that is taken, a file with errors.
        const isHopeless =
          (status !== 0 && livedMs < SHORT_LIFE_MS && signal === null) || shortLives > SHORT_LIVES;
        if (isHopeless) {
          code = status === 0 ? EXIT.runtime : status;
          stop();
        } else {
          say(`worker ${worker.process.pid} ended (${signal ?? status}); another one is started`);
          begin();
        }
      }
      // Whoever has failed may still be among the workers of the cluster, until its channel is closed too.
      if (beganMs.size > 0) return;
      void admin?.close();
      resolve(code);
    });
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    let admin: Admin | null = null;
    const isReady = (): boolean => !isStopping && listening.size > 0;
    const listening = new Set<number>();
    cluster.on('listening', (worker) => {
      listening.add(worker.id);
      // What a worker was told before it listened it may not have heard.
      const order: Order = { order: 'stop' };
      if (isStopping) worker.send(order);
    });
    cluster.on('exit', ({ id }) => void listening.delete(id));
    if (adminPort !== null) {
      const families = async () => addedUp([await countOfAll(), [lostFamily(lost.counts())]]);
      void listenForAdmin({ isReady, families }, { host: '127.0.0.1', port: adminPort }).then((opened) => {
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

/** One more worker, whose events are written. */
function forked(sink: EventSink | null): Worker {
  const worker = cluster.fork();
  worker.on('error', () => undefined); // an order to one that has just ended
  worker.on('message', (told: Told) => {
    if ('event' in told) sink?.write(told.event);
  });
  return worker;
}

let serial = 0;

/** What all workers have counted since each of them began. */
async function countOfAll(): Promise<Family[]> {
  const asked = ++serial;
  const all = await Promise.all(
    workers().map(
      (worker) =>
        new Promise<readonly Family[]>((resolve) => {
          const settle = (counts: readonly Family[]): void => {
            clearTimeout(timer);
            worker.off('message', onTold);
            resolve(counts);
          };
          const onTold = (told: Told): void => {
            if ('counts' in told && told.serial === asked) settle(told.counts);
          };
          const timer = setTimeout(() => settle([]), COUNT_MS);
          worker.on('message', onTold);
          const order: Order = { order: 'count', serial: asked };
          worker.send(order);
        }),
    ),
  );
  return addedUp(all);
}

/** The order to end may come before this worker has begun to serve. */
let isStopOrdered = false;
if (isWorker) {
  process.on('message', (message: Order) => {
    if (message.order === 'stop') isStopOrdered = true;
  });
}

/** The sink of a worker: the first process writes. */
export function workerSink(): EventSink {
  return {
    write: (event) => {
      const told: Told = { event };
      if (process.connected) process.send?.(told);
    },
    close: async () => undefined,
  };
}

/** Settles, with the exit code, when the first process says that it is time to end, or is gone. */
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
  process.on('message', (message: Order) => {
    if (message.order === 'stop') once();
    else {
      const told: Told = { counts: counts(), serial: message.serial };
      process.send?.(told);
    }
  });
  process.once('disconnect', once);
  // The terminal tells all processes; the first one says what is to be done.
  process.on('SIGINT', () => undefined);
  process.once('SIGTERM', once);
}

/** Lets a worker end, when what it has told is on its way; one that could not begin ends with its code. */
export function leave(code: number): void {
  // Who only hangs up exits with 0.
  if (code !== EXIT.ok) process.exit(code);
  if (process.connected) process.disconnect?.();
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

/** A number of processes given on the command line. */
export function readWorkers(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a number of processes from 1 to 99.');
}
