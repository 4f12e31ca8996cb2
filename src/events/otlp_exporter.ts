import { tracedText } from './delivery.ts';
import type { DeliveryOptions, Outbox } from './outbox.ts';
import type { Explained } from './otlp/signals.ts';
import { type OtlpSettings, otlpTarget } from './senders/otlp.ts';
import type { Target } from './senders/sending.ts';
import { startWorker } from './worker.ts';
import { counted } from '../diagnostics/message_text.ts';

/** Sends the events of this process to a receiver that the operator names. */
export interface OtlpExporter {
  /** Accepts an event, and how to explain its exchange if it has one; never blocks. */
  readonly take: (event: Parameters<typeof tracedText>[0], explain?: () => Explained) => void;
  /** Makes one more attempt; resolves within about a second. */
  readonly close: () => Promise<void>;
}

/** `say` gets a line when sending fails and when it works again, and one about events that were not sent. */
export function otlpExporter(
  settings: OtlpSettings,
  options: DeliveryOptions & { readonly say: (line: string) => void },
): OtlpExporter {
  let lost = 0;
  // There are no audit events without a store.
  const outbox: Outbox = {
    destinations: async () => [],
    subscriptions: async () => [],
    waiting: async () => [],
    waitingCount: async () => 0,
    deadCount: async () => 0,
    settle: async (_destination, _sequences, dead) => {
      lost += dead.length;
    },
  };
  const worker = startWorker('otlp', reporting(otlpTarget(settings, options), options.say), outbox, options);
  return {
    take: (event, explain) =>
      worker.take(explain === undefined ? JSON.stringify(event) : tracedText(event, explain)),
    close: async () => {
      await worker.stop();
      const { waiting, dropped } = worker.status();
      const unsent = waiting + dropped + lost;
      if (unsent > 0) options.say(`${counted(unsent, 'event was', 'events were')} not sent by OTLP`);
    },
  };
}

function reporting(target: Target, say: (line: string) => void): Target {
  let isFailing = false;
  const report = (problem: string | null): void => {
    if (problem !== null && !isFailing) say(`sending by OTLP failed; events wait in memory: ${problem}`);
    if (problem === null && isFailing) say('sending by OTLP works again');
    isFailing = problem !== null;
  };
  return {
    ...target,
    send: async (events) => {
      try {
        const sent = await target.send(events);
        report(sent.problem);
        return sent;
      } catch (error) {
        report((error as Error).message);
        throw error;
      }
    },
  };
}
