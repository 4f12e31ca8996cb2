import type { Forwarding, ForwardTaker, KeepingClient } from './ports.ts';
import type { Dialled } from './tcp_dial.ts';

export interface Waiting {
  /** How long a request waits in all, in ms. */
  readonly waitMs: number;
  /** Ends all waiting. */
  readonly stop: AbortSignal;
  /** Called with the backend of each request that begins to wait. */
  readonly waits: (backend: string) => void;
}

/** Time between two attempts, in ms: the first, and the longest; it doubles. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * A client whose requests wait for an upstream that cannot be reached, such as an application that is being started
 * again. Nothing of the request has been sent then, not even a byte of its body. A request with another endpoint
 * to try does not wait.
 */
export function waitingClient(client: KeepingClient, { waitMs, stop, waits }: Waiting): KeepingClient {
  if (waitMs <= 0) return client;
  return {
    ...client,
    forward(request, body, options, taker) {
      if (request.hasNext === true) return client.forward(request, body, options, taker);
      const attempt = (given: ForwardTaker): Forwarding => client.forward(request, body, options, given);
      const begins = (): void => waits(request.endpoint.id);
      return waiting(attempt, taker, { endMs: performance.now() + waitMs, stop, begins });
    },
  };
}

function waiting(
  attempt: (taker: ForwardTaker) => Forwarding,
  taker: ForwardTaker,
  { endMs, stop, begins }: Pick<Waiting, 'stop'> & { readonly endMs: number; readonly begins: () => void },
): Forwarding {
  let pauseMs = FIRST_PAUSE_MS;
  let current: Forwarding | null = null;
  let giveUp: (() => void) | null = null;
  const repeating: ForwardTaker = {
    interim: (head) => taker.interim(head),
    answered: (...answer) => taker.answered(...answer),
    switched: (...answer) => taker.switched(...answer),
    failed: (failure, detail, isRepeatable) => {
      const fail = (): void => taker.failed(failure, detail, isRepeatable);
      const restMs = endMs - performance.now();
      if (failure !== 'connect' || restMs <= 0 || stop.aborted) return fail();
      if (pauseMs === FIRST_PAUSE_MS) begins();
      pause(Math.min(pauseMs, restMs), fail);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    },
  };
  const pause = (ms: number, fail: () => void): void => {
    const timer = setTimeout(() => {
      end();
      begin();
    }, ms);
    const end = (): void => {
      giveUp = null;
      clearTimeout(timer);
      stop.removeEventListener('abort', stopped);
    };
    const stopped = (): void => {
      end();
      fail();
    };
    stop.addEventListener('abort', stopped, { once: true });
    giveUp = end;
  };
  const begin = (): void => {
    current = attempt(repeating);
  };
  begin();
  return {
    cancel: () => {
      giveUp?.();
      current?.cancel();
    },
  };
}

interface DialWaiting {
  readonly waitMs: number;
  /** Each of them ends the waiting. */
  readonly stops: readonly AbortSignal[];
  readonly begins: () => void;
}

/** Opens a connection, and tries again for `waitMs` until one of the signals stops it. */
export async function dialWaiting(
  dial: () => Promise<Dialled>,
  { waitMs, stops, begins }: DialWaiting,
): Promise<Dialled> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const dialled = await dial();
    const restMs = endMs - performance.now();
    if ('stream' in dialled || restMs <= 0 || stops.some(({ aborted }) => aborted)) return dialled;
    if (pauseMs === FIRST_PAUSE_MS) begins();
    await pauseUntil(Math.min(pauseMs, restMs), stops);
  }
}

/** Resolves after `ms`, or with the first of the signals. */
function pauseUntil(ms: number, stops: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const stop of stops) stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const stop of stops) stop.addEventListener('abort', end, { once: true });
  });
}
