import type { Worker } from 'node:worker_threads';
import type { Answer, Answers, CheckSettings, Order, Orders, TextChange } from './messages.ts';

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

interface Limits {
  /** An order that takes longer is given up, together with its thread. */
  readonly orderMs: number;
  /** A thread without orders for this long ends. */
  readonly idleMs: number;
}

/** The server's side of a thread that checks. A thread that fails is replaced by one with the same texts. */
export class CheckClient {
  readonly #start: () => Worker;
  readonly #limits: Limits | null;
  readonly #waiting = new Map<number, Waiting>();
  readonly #texts = new Map<string, string>();
  /** Those that have changed since the last order: a thread that is asked nothing copies nothing. */
  readonly #unsent = new Set<string>();
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | null = null;
  #nextId = 1;

  constructor(start: () => Worker, limits: Limits | null = null) {
    this.#start = start;
    this.#limits = limits;
  }

  /** Tells the text of an open file; null when it is closed. */
  setText(name: string, text: string | null): void {
    if (text === null) this.#texts.delete(name);
    else this.#texts.set(name, text);
    this.#unsent.add(name);
  }

  ask<Does extends keyof Orders>(
    does: Does,
    name: string,
    settings: CheckSettings,
    more: Orders[Does],
  ): Promise<Answers[Does]> {
    const order = { id: this.#nextId++, does, name, settings, ...more } as unknown as Order;
    const worker = (this.#worker ??= this.#started());
    return new Promise((resolve, reject) => {
      this.#waiting.set(order.id, { resolve, reject });
      this.#keepTime();
      for (const changed of this.#unsent)
        send(worker, { name: changed, text: this.#texts.get(changed) ?? null });
      this.#unsent.clear();
      send(worker, order);
    });
  }

  #started(): Worker {
    const worker = this.#start();
    const failed = (error: Error): void => {
      if (this.#worker === worker) this.#failed(error);
    };
    worker.on('message', (answer: Answer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      this.#keepTime();
      if ('problem' in answer) waiting?.reject(new Error(answer.problem));
      else waiting?.resolve(answer.result as never);
    });
    worker.on('error', (error: unknown) => failed(error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', () => failed(new Error('the thread that checks has ended')));
    for (const name of this.#texts.keys()) this.#unsent.add(name);
    // The server ends with its input, not with this thread.
    worker.unref();
    return worker;
  }

  /** Begins to wait for the next answer, or for the next order. */
  #keepTime(): void {
    if (this.#limits === null) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { orderMs, idleMs } = this.#limits;
    const isIdle = this.#waiting.size === 0;
    this.#timer = setTimeout(
      () => {
        const worker = this.#worker;
        this.#failed(new Error(`no answer within ${orderMs / 1_000} s`));
        void worker?.terminate();
      },
      isIdle ? idleMs : orderMs,
    ).unref();
  }

  #failed(error: Error): void {
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function send(worker: Worker, message: Order | TextChange): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origins
  worker.postMessage(message);
}
