import { reportFault } from './containment.ts';

/** Something that must be over by a time. */
export interface Deadline {
  /** In ticks of its `Deadlines`; 0 for none. */
  deadline: number;
  /** The time is over. */
  expire(): void;
}

/** Between two looks at the clock, at most and at least, in ms. */
const LONGEST_TICK_MS = 1_000;
const SHORTEST_TICK_MS = 10;

/**
 * Deadlines of many things by one timer, which looks at all of them once in a tick: a timer of its own for each
 * request and each connection would cost more than reading the request does. None comes early, and each late by two
 * ticks at most.
 */
export class Deadlines {
  readonly #tickMs: number;
  readonly #due = new Set<Deadline>();
  #tick = 1;
  #timer: NodeJS.Timeout | null = null;

  /** `shortestMs` is the shortest time that will be asked for: a tick is a fifth of it. */
  constructor(shortestMs: number) {
    this.#tickMs = Math.max(SHORTEST_TICK_MS, Math.min(LONGEST_TICK_MS, Math.floor(shortestMs / 5)));
  }

  /** The deadline that is `ms` away; 0, which is none, for 0 ms. */
  after(ms: number): number {
    return ms === 0 ? 0 : this.#tick + 1 + Math.ceil(ms / this.#tickMs);
  }

  /** Looks after `due` until it is forgotten; `ms` is the first time that it has, none when left out. */
  watch(due: Deadline, ms?: number): void {
    if (ms !== undefined) due.deadline = this.after(ms);
    this.#due.add(due);
    this.#timer ??= setInterval(() => this.#look(), this.#tickMs).unref();
  }

  forget(due: Deadline): void {
    this.#due.delete(due);
    if (this.#due.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const tick = ++this.#tick;
    for (const due of this.#due) {
      if (due.deadline === 0 || due.deadline > tick) continue;
      due.deadline = 0;
      try {
        due.expire();
      } catch (fault) {
        reportFault(fault); // those behind it still have their time
      }
    }
  }
}
