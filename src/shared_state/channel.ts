import type { SharedAnswer, SharedRequest, WhenUnavailable } from '../engine/shared_question.ts';
import { lateAfter } from './late_after.ts';
import type { FromHub, Link, ToHub } from './link.ts';
import { PENDING_LIMIT, type SharedRegistry, type SharedState } from './port.ts';

export interface ChannelOptions {
  readonly whenUnavailable: WhenUnavailable;
  /** How long a request waits for an answer, in ms. */
  readonly answerMs?: number;
}

const ANSWER_MS = 1_000;

/**
 * The state of a hub in another process. The questions of one turn of the event loop go in one message, and have one
 * deadline. After the first one that passes nothing more is asked until an answer arrives, so that only the first requests
 * wait, as with Redis; the end of a session is still published.
 */
export function channelState(
  link: Link<ToHub, FromHub>,
  { whenUnavailable, answerMs = ANSWER_MS }: ChannelOptions,
): SharedState {
  const pending = new Map<number, (answer: SharedAnswer) => void>();
  const registries: SharedRegistry[] = [];
  let serial = 0;
  let isOver = false;
  let isSilent = false;
  let batch: (readonly [number, SharedRequest])[] = [];
  let joined: (() => void) | null = null;

  const unavailable = (detail: string): SharedAnswer => ({ unavailable: whenUnavailable, detail });
  const settle = (of: number, answer: SharedAnswer): void => {
    const resolve = pending.get(of);
    pending.delete(of);
    resolve?.(answer);
  };
  const late = (asks: readonly (readonly [number, SharedRequest])[]): void => {
    // One that was answered by then is no longer pending.
    const unanswered = asks.filter(([of]) => pending.has(of));
    if (unanswered.length > 0) isSilent = true;
    for (const [of] of unanswered) settle(of, unavailable(SILENT));
  };
  const flush = (): void => {
    const asks = batch;
    batch = [];
    if (isOver || !link.send({ asks })) for (const [of] of asks) settle(of, unavailable(GONE));
    else lateAfter(answerMs, () => late(asks));
  };
  link.hear((message) => {
    if ('answers' in message) {
      isSilent = false;
      for (const [of, answer] of message.answers) settle(of, answer);
      return;
    }
    const { ends, allBeforeMs, isAll } = message;
    for (const { restore } of registries) restore(ends, allBeforeMs ?? Number.NEGATIVE_INFINITY);
    if (isAll) joined?.();
  });
  link.onOver(() => {
    isOver = true;
    for (const of of pending.keys()) settle(of, unavailable(GONE));
    joined?.();
  });
  return {
    ask: (request) => {
      if (isOver) return unavailable(GONE);
      if (isSilent && request.do !== 'publish') return unavailable(SILENT);
      if (pending.size >= PENDING_LIMIT) return unavailable('too many questions wait');
      return new Promise((resolve) => {
        const own = ++serial;
        pending.set(own, resolve);
        if (batch.push([own, request]) === 1) setImmediate(flush);
      });
    },
    join: (registry) =>
      new Promise((resolve) => {
        joined = resolve;
        registries.push(registry);
        registry.onEnd((ended) => void link.send({ ended }));
        if (isOver || !link.send({ joins: true })) resolve();
      }),
    close: () => Promise.resolve(),
  };
}

const SILENT = 'no answer in time';
const GONE = 'the process that has the state is gone';
