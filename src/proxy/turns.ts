/** Jobs of one connection, done one after the other in the order they came. */
export interface Turns {
  /** Adds a job; it must not reject. */
  add(job: () => Promise<void> | void): void;
  /** Jobs that have not begun. */
  readonly waiting: number;
  readonly idle: boolean;
}

/**
 * Makes the queue; `rested` is called when the last job is done. Pipelined requests are served in order, so that
 * an unsafe one never runs beside another (RFC 9112 §9.3.2).
 */
export function createTurns(rested: () => void): Turns {
  const queue: (() => Promise<void> | void)[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job();
    running = false;
    rested();
  }

  return {
    add(job) {
      queue.push(job);
      if (!running) void run();
    },
    get waiting() {
      return queue.length;
    },
    get idle() {
      return !running;
    },
  };
}
