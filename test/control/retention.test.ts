import { afterEach, describe, expect, it } from 'vitest';
import { startInstance } from './instance.ts';

const DAY_MS = 86_400_000;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

describe('retention', () => {
  it.each([
    ['keeps all by default', {}, 'kept', 'kept'],
    ['removes older audit records', { auditDays: 30 }, 'removed', 'kept'],
    ['drops older undelivered events', { undeliveredDays: 7 }, 'kept', 'removed'],
    ['keeps what is younger', { auditDays: 32, undeliveredDays: 32 }, 'kept', 'kept'],
  ] as const)('%s', async (_, retention, auditLeft, waitingLeft) => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const instance = await startInstance({ nowMs: () => now, retention });
    open.push(instance.close);
    // A reserved address for documentation (RFC 5737), which accepts nothing.
    const target = { debug: { callback_url: 'https://192.0.2.1/' } };
    const { id } = await instance.make('/event_destinations', { format: 'json', target });
    const sources = [{ type: 'vault_created.v0' }];
    await instance.make('/event_subscriptions', { sources, destination_ids: [id] });
    await instance.make('/vaults', { name: 'old' });
    now += 31 * DAY_MS;
    await instance.make('/vaults', { name: 'new' });
    const later = await instance.reopened();
    open.push(later.close);
    // The audit has the newest record first.
    const names = (events: readonly string[]) =>
      Array.from(events, (event) => JSON.parse(event))
        .flatMap(({ event_type: type, object }) => (type === 'vault_created.v0' ? [String(object.name)] : []))
        .toSorted();
    const both = ['new', 'old'];
    const left = { kept: both, removed: ['new'] };
    const { store } = later;
    const audit = async () => names((await store.read((view) => view.audit(99))).map(({ event }) => event));
    const waiting = async () =>
      names((await store.read((view) => view.waiting(id, 99))).map(({ event }) => event));
    await expect.poll(audit).toEqual(left[auditLeft]);
    await expect.poll(waiting).toEqual(left[waitingLeft]);
  });
});
