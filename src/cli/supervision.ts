import cluster, { type Worker } from 'node:cluster';
import { failureText } from '../diagnostics/system_failure.ts';
import type { LostEvents } from '../events/lost.ts';
import type { EventWriter } from '../events/ndjson.ts';
import { listenForAdmin } from '../server/admin.ts';
import { isSingleExecutable } from '../loading/single_executable.ts';
import { type Family, addedUp } from '../server/admin_metrics.ts';
import { lostFamily } from '../server/process_metrics.ts';
import { ListenError } from '../listen_options.ts';
import { EXIT } from './exit_codes.ts';
import { workerCounts } from './worker_counts.ts';
import { type AfterEnd, type WorkerEnd, restarts } from './worker_restarts.ts';
import { CHECK_MS, type WorkerHealth, workerHealth } from './worker_health.ts';
import type { Order, WorkerMessage } from './workers.ts';

/**
 * Several processes behind one listener, with Node's cluster module: the first process listens and passes
 * connections on, the others serve. Each has the whole configuration and its own breakers and pools, like the
 * machines of a real edge. The first process has the state that they share (`worker_sharing.ts`), writes all
 * events and coordinates the shutdown.
 */

/** What a worker may need beside the time for draining until it has ended, in ms. */
const ENDING_MS = 10_000;
const STOP: Order = { order: 'stop' };
const ANSWER: Order = { order: 'answer' };
const REPORT: Order = { order: 'report' };
const NOT_BEGUN: WorkerEnd = { livedMs: 0, hasListened: false, status: null };

// Node starts workers with the path of the main file as first argument. The binary has none: its arguments follow at once.
if (isSingleExecutable) {
  const [, , verb = '', ...rest] = process.argv;
  cluster.setupPrimary({ exec: verb, args: rest });
}

export interface Supervision {
  readonly sink: EventWriter | null;
  /** Counts events that the first process could not write. */
  readonly lost: LostEvents;
  readonly say: (text: string) => void;
  /** Called with each new worker. */
  readonly began: (worker: Worker) => void;
  /** Signals that stop all; a second one ends them at once. */
  readonly signals: readonly NodeJS.Signals[];
  /** How long a stop waits for requests in flight, in ms. */
  readonly drainMs: number;
  /** Where health and the counts of all workers are served; null for nowhere. */
  readonly admin: { readonly host: string; readonly port: number } | null;
}

/**
 * Starts `count` workers with the arguments of this process, restarts those that end, and resolves with the
 * exit code. Throws ListenError if the admin port cannot be opened.
 */
export async function superviseWorkers(count: number, supervision: Supervision): Promise<number> {
  const { signals, say, lost, admin: place } = supervision;
  const workers = new Workers(supervision);
  let isSignalled = false;
  const onSignal = (): void => {
    if (isSignalled) return workers.killAll(EXIT.interrupted);
    isSignalled = true;
    say('draining; repeat to stop at once');
    workers.stop(EXIT.ok);
  };
  for (const signal of signals) process.on(signal, onSignal);
  const families = async () => addedUp([await workers.counts(), [lostFamily(lost.counts())]]);
  const admin = place === null ? null : await listenForAdmin({ isReady: workers.areReady, families }, place);
  if (admin !== null && 'problem' in admin) throw new ListenError(admin.problem);
  if (admin !== null)
    say(`  metrics and health of all workers: http://127.0.0.1:${admin.bound.port}/metrics`);
  const code = await workers.run(count);
  await admin?.close();
  return code;
}

/** A worker that has not ended. */
interface Running {
  readonly worker: Worker;
  readonly beganMs: number;
  readonly afterEnd: AfterEnd;
  readonly health: WorkerHealth;
  isListening: boolean;
}

class Workers {
  readonly #supervision: Supervision;
  readonly #running = new Map<number, Running>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #counts = workerCounts();
  readonly #ended = Promise.withResolvers<number>();
  /** The worker that prints reloads for all. */
  #reporter: Worker | null = null;
  #isStopping = false;
  #haveListened = false;
  #code: number = EXIT.ok;

  constructor(supervision: Supervision) {
    this.#supervision = supervision;
    cluster.on('listening', (worker) => this.#listens(worker));
    cluster.on('exit', ({ id }, status, signal) => this.#hasEnded(this.#running.get(id)!, status, signal));
  }

  /** Whether new requests are served. */
  readonly areReady = (): boolean => !this.#isStopping && this.#areListening();

  /** What all workers have counted since the start. */
  counts(): Promise<Family[]> {
    return this.#counts.ask();
  }

  /** Starts so many workers; resolves with the exit code when all have ended. */
  run(count: number): Promise<number> {
    for (let at = 0; at < count && !this.#isStopping; at++) this.#begin(restarts());
    const checks = setInterval(() => this.#check(), CHECK_MS);
    void this.#ended.promise.then(() => clearInterval(checks));
    return this.#ended.promise;
  }

  /** Lets all workers end; those that do not end in time are killed. */
  stop(code: number): void {
    this.#isStopping = true;
    this.#code = code;
    this.#clearTimers();
    for (const { worker } of this.#running.values()) worker.send(STOP);
    const { drainMs, say } = this.#supervision;
    const killLate = (): void => {
      for (const { worker } of this.#running.values())
        say(`worker ${worker.process.pid} did not end in time, and is killed`);
      this.killAll(code);
    };
    this.#timers.add(setTimeout(killLate, drainMs + ENDING_MS));
    this.#resolveIfEnded();
  }

  killAll(code: number): void {
    this.#code = code;
    for (const { worker } of this.#running.values()) worker.process.kill('SIGKILL');
  }

  #begin(afterEnd: AfterEnd): void {
    const { sink, began } = this.#supervision;
    const failed = (error: Error): void =>
      this.#again(`no worker could be started: ${failureText(error)}`, NOT_BEGUN, afterEnd);
    let worker: Worker;
    try {
      worker = cluster.fork();
    } catch (error) {
      return failed(error as Error);
    }
    const hasBegun = worker.process.pid !== undefined;
    // Of one that has begun: sending to a worker that has just ended fails.
    worker.on('error', (error) => void (hasBegun || failed(error)));
    if (!hasBegun) return;
    const health = workerHealth();
    const beganMs = performance.now();
    this.#running.set(worker.id, { worker, beganMs, afterEnd, health, isListening: false });
    worker.on('message', (report: WorkerMessage) => {
      health.answered();
      if ('events' in report) for (const json of report.events) sink?.writeJson(json);
    });
    this.#counts.hear(worker);
    began(worker);
    returnUnaccepted(worker, () => this.#areListening());
  }

  /** Kills workers that hang: others take their place, and the connections that they had not accepted. */
  #check(): void {
    // A stop has its own limit.
    if (this.#isStopping) return;
    for (const { worker, health, isListening } of this.#running.values()) {
      const problem = health.check(isListening);
      if (problem === null) worker.send(ANSWER);
      else {
        this.#supervision.say(`worker ${worker.process.pid} ${problem}, and is killed`);
        worker.process.kill('SIGKILL');
      }
    }
  }

  #listens(worker: Worker): void {
    const running = this.#running.get(worker.id);
    if (running === undefined) return; // it has already ended
    running.isListening = true;
    this.#haveListened = true;
    if (this.#reporter === null) this.#reportBy(worker);
    // A worker may have missed an order that was sent before it listened.
    if (this.#isStopping) worker.send(STOP);
  }

  #hasEnded({ worker, beganMs, afterEnd, isListening }: Running, status: number, signal: string): void {
    this.#running.delete(worker.id);
    if (worker === this.#reporter) {
      const next = [...this.#running.values()].find(({ isListening: serves }) => serves);
      this.#reportBy(next?.worker ?? null);
    }
    this.#counts.ended(worker);
    const end = { livedMs: performance.now() - beganMs, hasListened: isListening, status };
    this.#again(`worker ${worker.process.pid} ended (${signal ?? status})`, end, afterEnd);
  }

  #reportBy(worker: Worker | null): void {
    this.#reporter = worker;
    worker?.send(REPORT);
  }

  /** Starts a worker for one that has ended, or stops all. */
  #again(what: string, end: WorkerEnd, afterEnd: AfterEnd): void {
    if (this.#isStopping) return this.#resolveIfEnded();
    const { say } = this.#supervision;
    const next = afterEnd(end, { areListening: this.#areListening(), haveListened: this.#haveListened });
    if ('exitCode' in next) {
      say(`${what}; no worker serves: stopping`);
      return this.stop(next.exitCode);
    }
    const { delayMs } = next;
    say(`${what}; starting another one${delayMs === 0 ? '' : ` in ${delayMs / 1_000} s`}`);
    this.#timers.add(setTimeout(() => this.#begin(afterEnd), delayMs));
  }

  #resolveIfEnded(): void {
    // A failed worker may still be in the cluster's list until its channel is closed.
    if (this.#running.size > 0) return;
    this.#clearTimers();
    this.#ended.resolve(this.#code);
  }

  #clearTimers(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #areListening(): boolean {
    return [...this.#running.values()].some(({ isListening }) => isListening);
  }
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
