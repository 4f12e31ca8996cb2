import { setTimeout } from 'node:timers/promises';
import type { QueuedMessage } from '../clients/nats_consumer.ts';
import { DEFAULT_LIMITS } from './batches.ts';
import type { Target } from './senders/sending.ts';
import { counted } from '../diagnostics/message_text.ts';

/** Delivers the messages that a process of a group has, batch by batch. */
export interface GroupDelivery {
  readonly take: (message: QueuedMessage) => void;
  /** Finishes the present batch, and gives the rest back to the group. */
  readonly close: () => Promise<void>;
}

const RETRY_MS = 500;
const RETRY_LIMIT_MS = 10_000;

/**
 * A message is done when the target has it: whatever happens before that to this process, the queue hands it to another one. So
 * some are sent twice, with the same event id, and none is lost.
 */
export function groupDelivery(
  target: Target,
  { say, random }: { readonly say: (line: string) => void; readonly random: () => number },
): GroupDelivery {
  const limits = target.limits ?? DEFAULT_LIMITS;
  const waiting: QueuedMessage[] = [];
  let wake = Promise.withResolvers<void>();
  let isClosing = false;
  let failures = 0;

  const report = (problem: string | null): void => {
    if (problem !== null && failures === 0)
      say(`the destination failed; events wait in the queue: ${problem}`);
    if (problem === null && failures > 0) say('the destination works again');
    failures = problem === null ? 0 : failures + 1;
  };

  /** The next messages within the limits of the target. */
  function batchOf(): QueuedMessage[] {
    const batch: QueuedMessage[] = [];
    let bytes = 0;
    while (batch.length < limits.events && waiting.length > 0) {
      const size = Buffer.byteLength(waiting[0]!.value) + limits.overheadBytes;
      if (size > limits.eventBytes) {
        refused(waiting.shift()!, `larger than the ${limits.eventBytes} bytes that the destination takes`);
        continue;
      }
      bytes += size;
      if (bytes > limits.bytes && batch.length > 0) break;
      batch.push(waiting.shift()!);
    }
    return batch;
  }

  function refused(message: QueuedMessage, reason: string): void {
    say(`an event is given up: ${reason}: ${message.value.slice(0, EVENT_SHOWN)}`);
    message.refuse(reason);
  }

  async function send(batch: readonly QueuedMessage[]): Promise<void> {
    const sent = await target
      .send(batch.map(({ value }) => value))
      .catch(
        (error: unknown) => ({ problem: (error as Error).message }) as Awaited<ReturnType<Target['send']>>,
      );
    if (sent.divide === true && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      await send(batch.slice(0, half));
      return send(batch.slice(half));
    }
    const dead = new Map((sent.dead ?? []).map(({ index, reason }) => [index, reason]));
    if (sent.divide === true) dead.set(0, sent.problem!);
    const again = new Set(sent.again ?? (sent.problem === null ? [] : batch.keys()));
    report(sent.divide === true ? null : sent.problem);
    const delayMs = Math.max(
      sent.afterMs ?? 0,
      Math.min(RETRY_LIMIT_MS, RETRY_MS * 2 ** Math.max(0, failures - 1)),
    );
    const settled = batch.map(async (message, index) => {
      const reason = dead.get(index);
      if (reason !== undefined) return refused(message, reason);
      if (again.has(index)) return message.again(delayMs * (0.5 + random() / 2));
      // An acknowledgement that is lost makes the queue hand the message out once more.
      await message.done().catch(() => undefined);
    });
    await Promise.all(settled);
    if (sent.problem !== null && !isClosing && sent.divide !== true)
      await Promise.race([setTimeout(delayMs), closing.promise]);
  }

  const closing = Promise.withResolvers<void>();

  async function run(): Promise<void> {
    for (;;) {
      if (waiting.length === 0 && !isClosing) await wake.promise;
      wake = Promise.withResolvers();
      if (isClosing) return;
      if (waiting.length < limits.events && (limits.lingerMs ?? 0) > 0)
        await Promise.race([setTimeout(limits.lingerMs), closing.promise]);
      const batch = batchOf();
      if (batch.length > 0) await send(batch);
    }
  }

  const running = run();
  return {
    take: (message) => {
      waiting.push(message);
      wake.resolve();
    },
    close: async () => {
      isClosing = true;
      closing.resolve();
      wake.resolve();
      await running;
      for (const message of waiting) message.again(0);
      if (waiting.length > 0) say(`${counted(waiting.length, 'event goes', 'events go')} back to the queue`);
    },
  };
}

/** Characters of an event in a message. */
const EVENT_SHOWN = 200;
