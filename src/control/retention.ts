import { setImmediate } from 'node:timers/promises';
import { wholeSeconds } from '../events/timestamps.ts';
import type { Store } from './store/port.ts';
import { counted } from '../diagnostics/message_text.ts';

/** How long records are kept, in days; without a number forever. */
export interface RetentionOptions {
  readonly auditDays?: number;
  /** For audit events that a destination has not accepted. */
  readonly undeliveredDays?: number;
}

interface Surroundings {
  readonly nowMs: () => number;
  readonly say: (text: string) => void;
}

/** The regular removal of old records. */
export interface Expiring {
  readonly stop: () => Promise<void>;
}

const DAY_MS = 86_400_000;
const PERIOD_MS = 3_600_000;
/** Records removed in one transaction, so that other writes do not wait long. */
const SLICE = 500;

/** Removes old records now and every hour. */
export function expireEvents(
  store: Store,
  { auditDays, undeliveredDays }: RetentionOptions,
  { nowMs, say }: Surroundings,
): Expiring {
  let stopped = false;
  const expire = async (what: 'audit' | 'deliveries', days: number | undefined): Promise<number> => {
    if (days === undefined) return 0;
    const before = wholeSeconds(nowMs() - days * DAY_MS);
    for (let removed = 0; ; await setImmediate()) {
      const more = await store.write((transaction) => transaction.expire(what, before, SLICE));
      removed += more;
      if (more < SLICE || stopped) return removed;
    }
  };
  const sweep = async (): Promise<void> => {
    try {
      await expire('audit', auditDays);
      const dropped = await expire('deliveries', undeliveredDays);
      if (dropped > 0)
        say(`dropped ${counted(dropped, 'audit event')} not delivered within ${undeliveredDays} days\n`);
    } catch (error) {
      say(`cannot remove old events: ${String(error)}\n`);
    }
  };
  let sweeping = sweep();
  const timer = setInterval(() => void (sweeping = sweeping.then(sweep)), PERIOD_MS).unref();
  return {
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
