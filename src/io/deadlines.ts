import { reportFault } from './containment.ts';
import { DenseList, type Slotted } from './dense_list.ts';

/** Something with a deadline. */
export interface Deadline extends Slotted {
  /** In ticks of its `Deadlines`; 0 means no deadline. */
  deadline: number;
  /** The deadline has passed. */
  expire(): void;
}

/** Bounds of the interval between two checks, in ms. */
const MAX_TICK_MS = 1_000;
const MIN_TICK_MS = 10;

/**
 * Many deadlines with one timer, which checks all of them once per tick: a timer for each request and
 * connection would cost more than parsing the request. A deadline never expires early, and at most two ticks
 * late.
 */
export class Deadlines<Due extends Deadline = Deadline> {
  /** What is watched. */
  readonly watched = new DenseList<Due>();
  readonly #tickMs: number;
  #tick = 1;
  #timer: NodeJS.Timeout | null = null;

  /** `shortestMs` is the shortest time that will be used: a tick is a fifth of it. */
  constructor(shortestMs: number) {
    this.#tickMs = Math.max(MIN_TICK_MS, Math.min(MAX_TICK_MS, Math.floor(shortestMs / 5)));
  }

  /** The deadline in `ms`; 0 means none. */
  after(ms: number): number {
    return ms === 0 ? 0 : this.#tick + 1 + Math.ceil(ms / this.#tickMs);
  }

  /** Watches `due` until it is forgotten; `ms` is its first deadline, if any. */
  watch(due: Due, ms?: number): void {
    if (ms !== undefined) due.deadline = this.after(ms);
    this.watched.add(due);
    this.#timer ??= setInterval(() => this.#look(), this.#tickMs).unref();
  }

  forget(due: Due): void {
    this.watched.remove(due);
    if (this.watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const tick = ++this.#tick;
    for (const due of this.watched) {
      if (due.deadline === 0 || due.deadline > tick) continue;
      due.deadline = 0;
      try {
        due.expire();
      } catch (fault) {
        reportFault(fault); // the others are still watched
      }
    }
  }
}
