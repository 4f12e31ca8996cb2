import type { DeliveryOptions, Outbox } from './outbox.ts';
import type { Target } from './senders/sending.ts';
import { startWorker } from './worker.ts';
import { counted } from '../diagnostics/message_text.ts';

/** Sends the events of this process to one target that the operator names. */
export interface Exporter {
  /** Accepts an event as JSON; never blocks. */
  readonly take: (event: string) => void;
  /** Sends what waits; resolves about a second after the last success, at the latest after ten. */
  readonly close: () => Promise<void>;
}

export interface ExporterOptions extends DeliveryOptions {
  /** Gets a line when sending fails and when it works again, and one about events that were not sent. */
  readonly say: (line: string) => void;
  /** Where events go, for these lines: `by OTLP`. */
  readonly way: string;
}

/** Delivers from memory, at least once, in order; `kind` names the worker. */
export function exporterTo(kind: string, target: Target, options: ExporterOptions): Exporter {
  const { say, way } = options;
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
  let saidDropping = false;
  const onWorking = (): void => void (saidDropping = false);
  const worker = startWorker(kind, reporting(target, options, onWorking), outbox, options);
  return {
    take: (event) => {
      if (worker.take(event) || saidDropping) return;
      saidDropping = true;
      say(`events are dropped: too many wait to be sent ${way}`);
    },
    close: async () => {
      await worker.stop();
      const { waiting, dropped } = worker.status();
      const unsent = waiting + dropped + lost;
      if (unsent > 0) say(`${counted(unsent, 'event was', 'events were')} not sent ${way}`);
    },
  };
}

function reporting(target: Target, { say, way }: ExporterOptions, onWorking: () => void): Target {
  let isFailing = false;
  const report = (problem: string | null): void => {
    if (problem !== null && !isFailing) say(`sending ${way} failed; events wait in memory: ${problem}`);
    if (problem === null && isFailing) {
      onWorking();
      say(`sending ${way} works again`);
    }
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
