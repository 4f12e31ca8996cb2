import { expect, it } from 'vitest';
import { callbackPost } from '../../src/clients/callback_post.ts';
import { deliver } from '../../src/events/delivery.ts';
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
      random: Math.random,
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
  delivering.changed();
  await delivering.settled();
  expect(reads).toBe(2);
  await delivering.close();
});
