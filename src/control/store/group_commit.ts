import { setImmediate } from 'node:timers/promises';
import type { Store, Transaction } from './port.ts';

/** The steps of a transaction of several writes, each in a savepoint of its own. */
export interface TransactionSteps {
  /** Waits for other writers, at most for the time that the database gives; throws if they hold it longer. */
  readonly begin: () => Promise<void> | void;
  readonly save: () => Promise<void> | void;
  readonly release: () => Promise<void> | void;
  /** Takes back what was written since `save`. */
  readonly back: () => Promise<void> | void;
  /** Resolves when all is durable; throws if nothing is kept, or if that cannot be known. */
  readonly commit: () => Promise<void> | void;
  /** Takes back the whole transaction; never throws. */
  readonly abort: () => Promise<void> | void;
  /** Called when the transaction has ended and all that it registered has been done. */
  readonly ended: () => void;
  /** Whether the transaction can go on after an error. */
  readonly isOpen: () => boolean;
  readonly writesWith: (registering: Registering) => Transaction;
  /** StoreUnavailable for errors of the machine. */
  readonly unavailable: (error: unknown) => unknown;
}

/** What a write registers for its end. */
type Registering = Required<Pick<Transaction, 'undone' | 'committed'>>;

interface Waiting {
  readonly work: (transaction: Transaction) => Promise<unknown>;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A write that has succeeded and waits for the commit. */
interface Done {
  readonly waiting: Waiting;
  readonly answer: unknown;
  readonly undo: readonly (() => void)[];
  readonly afterwards: readonly (() => void)[];
}

/** Maximum number of writes in one commit. */
const GROUP = 64;

/**
 * Runs writes one after the other and commits those together that arrive in the same turn of the event loop: syncing
 * costs as much for one as for many. Each has a savepoint, so that one that fails leaves the others alone; each is
 * answered when all of its group is durable.
 */
export function groupCommit(steps: TransactionSteps): {
  readonly write: Store['write'];
  readonly idle: () => Promise<void>;
} {
  const queue: Waiting[] = [];
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      try {
        await steps.begin();
      } catch (error) {
        for (const { reject } of queue.splice(0)) reject(steps.unavailable(error));
        break;
      }
      await runGroup(queue, steps);
    }
    isRunning = false;
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        queue.push({ work, resolve, reject });
        if (isRunning) return;
        isRunning = true;
        running = run();
      }),
    idle: () => running,
  };
}

/** Runs what waits in the open transaction, commits, and answers. */
async function runGroup(queue: Waiting[], steps: TransactionSteps): Promise<void> {
  const group: Done[] = [];
  try {
    for (let joined = 0; joined < GROUP; joined++) {
      // What arrives while the others run may join.
      if (queue.length === 0) await setImmediate();
      const waiting = queue.shift();
      if (waiting === undefined) break;
      await attempt(waiting, group, steps);
    }
    await steps.commit();
  } catch (error) {
    await steps.abort();
    for (const { undo } of group.toReversed()) revert(undo);
    steps.ended();
    for (const { waiting } of group) waiting.reject(steps.unavailable(error));
    return;
  }
  for (const { afterwards } of group) for (const action of afterwards) action();
  steps.ended();
  for (const { waiting, answer } of group) waiting.resolve(answer as never);
}

/** Runs one write in its savepoint; throws only if the whole transaction is lost. */
async function attempt(waiting: Waiting, group: Done[], steps: TransactionSteps): Promise<void> {
  const undo: (() => void)[] = [];
  const afterwards: (() => void)[] = [];
  try {
    await steps.save();
    const registering: Registering = {
      undone: (action) => void undo.push(action),
      committed: (action) => void afterwards.push(action),
    };
    const answer = await waiting.work(steps.writesWith(registering));
    await steps.release();
    group.push({ waiting, answer, undo, afterwards });
  } catch (error) {
    revert(undo);
    waiting.reject(steps.unavailable(error));
    if (!steps.isOpen()) throw error;
    await steps.back();
    await steps.release();
  }
}

function revert(undo: readonly (() => void)[]): void {
  for (const action of undo.toReversed()) action();
}
