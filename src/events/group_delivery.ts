import { DEFAULT_LIMITS } from './batches.ts';
import { pause } from './pause.ts';
import type { BatchLimits, Sent, Target } from './senders/sending.ts';
import { counted } from '../diagnostics/message_text.ts';

/** A message of a queue that this process has for a while. */
interface GroupMessage {
  readonly value: string;
  /** Resolves when the queue has noted that the message is done. */
  readonly done: () => Promise<void>;
  /** Gives it back, to this or another process. */
  readonly again: (delayMs: number) => void;
  /** Gives it up for good. */
  readonly refuse: (reason: string) => void;
}

/** Delivers the messages that a process of a group has, batch by batch. */
interface GroupDelivery {
  readonly take: (message: GroupMessage) => void;
  /** Finishes the present batch, and gives the rest back to the group. */
  readonly close: () => Promise<void>;
}

interface Around {
  readonly say: (line: string) => void;
  readonly random: () => number;
}

const RETRY_MS = 500;
const RETRY_LIMIT_MS = 10_000;
/** Characters of an event in a message. */
const EVENT_SHOWN = 200;

/**
 * A message is done when the target has it: whatever happens before that to this process, the queue hands it to another one. So
 * some are sent twice, with the same event id, and none is lost.
 */
export function groupDelivery(target: Target, { say, random }: Around): GroupDelivery {
  const limits = target.limits ?? DEFAULT_LIMITS;
  const waiting: GroupMessage[] = [];
  const rest = pause();
  let isClosing = false;
  let failures = 0;

  const report = (problem: string | null): void => {
    if (problem !== null && failures === 0)
      say(`the destination failed; events wait in the queue: ${problem}`);
    if (problem === null && failures > 0) say('the destination works again');
    failures = problem === null ? 0 : failures + 1;
  };
  const refuse = (message: GroupMessage, reason: string): void => {
    say(`an event is given up: ${reason}: ${message.value.slice(0, EVENT_SHOWN)}`);
    message.refuse(reason);
  };

  async function send(batch: readonly GroupMessage[]): Promise<void> {
    const values = batch.map(({ value }) => value);
    const sent = await target.send(values).catch((error: unknown): Sent => ({
      problem: (error as Error).message,
    }));
    if (sent.divide === true && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      await send(batch.slice(0, half));
      return send(batch.slice(half));
    }
    const isAlone = sent.divide === true;
    report(isAlone ? null : sent.problem);
    const backoffMs = Math.min(RETRY_LIMIT_MS, RETRY_MS * 2 ** Math.max(0, failures - 1));
    const delayMs = Math.max(sent.afterMs ?? 0, backoffMs * (0.5 + random() / 2));
    const dead = isAlone ? [{ index: 0, reason: sent.problem! }] : (sent.dead ?? []);
    await settle(batch, { ...sent, dead }, { delayMs, refuse });
    if (sent.problem !== null && !isAlone && !isClosing) await rest.wait(delayMs);
  }

  async function run(): Promise<void> {
    for (;;) {
      if (waiting.length === 0 && !isClosing) await rest.wait();
      const lingerMs = limits.lingerMs ?? 0;
      if (!isClosing && lingerMs > 0 && waiting.length < limits.events) await rest.wait(lingerMs);
      if (isClosing) return;
      const batch = nextMessages(waiting, limits, refuse);
      if (batch.length > 0) await send(batch);
    }
  }

  const running = run();
  return {
    take: (message) => {
      waiting.push(message);
      rest.wake();
    },
    close: async () => {
      isClosing = true;
      rest.wake(true);
      await running;
      for (const message of waiting) message.again(0);
      if (waiting.length > 0) say(`${counted(waiting.length, 'event goes', 'events go')} back to the queue`);
    },
  };
}

/** Takes the next messages within the limits of a target. */
function nextMessages(
  waiting: GroupMessage[],
  limits: BatchLimits,
  refuse: (message: GroupMessage, reason: string) => void,
): GroupMessage[] {
  const batch: GroupMessage[] = [];
  let bytes = 0;
  while (batch.length < limits.events && waiting.length > 0) {
    const size = Buffer.byteLength(waiting[0]!.value) + limits.overheadBytes;
    if (size > limits.eventBytes) {
      refuse(waiting.shift()!, `larger than the ${limits.eventBytes} bytes that the destination takes`);
      continue;
    }
    bytes += size;
    if (bytes > limits.bytes && batch.length > 0) break;
    batch.push(waiting.shift()!);
  }
  return batch;
}

/** Tells the queue what became of each message. */
async function settle(
  batch: readonly GroupMessage[],
  { problem, again, dead = [] }: Sent,
  {
    delayMs,
    refuse,
  }: { readonly delayMs: number; readonly refuse: (message: GroupMessage, reason: string) => void },
): Promise<void> {
  const reasons = new Map(dead.map(({ index, reason }) => [index, reason]));
  const repeated = new Set(again ?? (problem === null ? [] : batch.keys()));
  const settled = batch.map(async (message, index) => {
    const reason = reasons.get(index);
    if (reason !== undefined) return refuse(message, reason);
    if (repeated.has(index)) return message.again(delayMs);
    // An acknowledgement that is lost makes the queue hand the message out once more.
    await message.done().catch(() => undefined);
  });
  await Promise.all(settled);
}
