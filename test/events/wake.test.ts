import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { callbackPost } from '../../src/clients/callback_post.ts';
import { deliver } from '../../src/events/delivery.ts';
import { seeded } from '../random.ts';
import { eventOf, memoryOutbox } from './destinations/outbox.ts';

it('more pending events wake their destinations, which are not read again', async () => {
  const target = { debug: { log: true } };
  const outbox = memoryOutbox({ ed_1: target, ed_2: target });
  let reads = 0;
  const destinations = () => {
    reads++;
    return outbox.destinations();
  };
  let said = '';
  let heard = (): void => {};
  const delivering = await deliver(
    { ...outbox, destinations },
    {
      nowMs: Date.now,
      random: seeded(1),
      post: callbackPost({ own: [], allowPrivate: false }),
      say: (text) => {
        said += text;
        heard();
      },
    },
  );
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      heard = () => {
        if (said.split('\n').length > count) resolve();
      };
      heard();
    });
  for (let number = 1; number <= 5; number++) {
    outbox.add(eventOf(number));
    delivering.wake(['ed_1', 'gone', 'ed_2']);
    await until(2 * number);
  }
  expect(reads).toBe(1);
  await delivering.changed();
  expect(reads).toBe(2);
  await delivering.close();
});

it('a changed subscription has its events from the moment the change is answered, however slow the store is', async () => {
  const outbox = memoryOutbox({ ed_1: { debug: { log: true } } });
  let subscriptions: Awaited<ReturnType<typeof outbox.subscriptions>> = [];
  let said = '';
  const delivering = await deliver(
    {
      ...outbox,
      subscriptions: async () => {
        for (let turn = 0; turn < 20; turn++) await setImmediate();
        return subscriptions;
      },
    },
    {
      nowMs: Date.now,
      random: seeded(1),
      post: callbackPost({ own: [], allowPrivate: false }),
      say: (text) => void (said += text),
    },
  );
  const event = JSON.parse(eventOf(1)) as Parameters<typeof delivering.traffic>[0];
  const traffic = (id: string) =>
    delivering.traffic({ ...event, event_id: id, event_type: 'http_request_complete.v0' });
  traffic('ev_before');
  subscriptions = [{ sources: [{ type: 'http_request_complete.v0' }], destinations: ['ed_1'] }];
  await delivering.changed();
  traffic('ev_after');
  await delivering.close();
  expect([said.includes('ev_before'), said.includes('ev_after')]).toEqual([false, true]);
});
