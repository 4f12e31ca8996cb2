import { existsSync } from 'node:fs';
import { expect, describe, it } from 'vitest';
import { guardedDial } from '../../../src/clients/guarded_dial.ts';
import { kafkaQueue } from '../../../src/clients/kafka.ts';
import { callbackPost } from '../../../src/clients/callback_post.ts';
import { natsQueue } from '../../../src/clients/nats.ts';
import { deliver } from '../../../src/events/delivery.ts';
import { IS_FULL } from '../../random.ts';
import { KCAT, startBroker } from './kafka_broker.ts';
import { eventOf, idOf, memoryOutbox } from './outbox.ts';

const SOON = { timeout: 30_000 };
const COUNT = 2_500;
const TOPIC = 'edge-events';

describe.skipIf(!IS_FULL || !existsSync(KCAT))('the broker of librdkafka (large run, kcat)', () => {
  it(
    'gives each event to its consumer once, in order, with its key and its id',
    { timeout: 60_000 },
    async () => {
      const broker = await startBroker(TOPIC);
      const reach = { own: [], allowPrivate: true };
      const target = { kafka: { brokers: [broker.url], topic: TOPIC, tls: false } };
      const outbox = memoryOutbox({ ed_1: target });
      for (let number = 0; number < COUNT; number++) outbox.add(eventOf(number));
      const running = await deliver(outbox, {
        nowMs: Date.now,
        random: () => 0.5,
        say: () => {},
        post: callbackPost(reach),
        queues: {
          nats: (settings) => natsQueue(settings, guardedDial(reach)),
          kafka: (settings) => kafkaQueue(settings, guardedDial(reach)),
        },
      });
      try {
        await expect.poll(() => outbox.waitingCount('ed_1'), SOON).toBe(0);
        await expect.poll(() => broker.consumed().length, SOON).toBeGreaterThanOrEqual(COUNT);
        expect(running.statusOf('ed_1')).toMatchObject({ state: 'ok', dead: 0, last_error: '' });
      } finally {
        await running.close();
        await broker.stop();
      }
      const records = broker.consumed();
      expect(records.map(({ payload }) => payload)).toHaveLength(COUNT);
      // Records of one key are in one partition, in the order of the source.
      for (const [key, own] of Map.groupBy(records, (each) => each.key)) {
        expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
        const wanted = Array.from({ length: COUNT }, (_, number) => eventOf(number)).filter(
          (event) => (JSON.parse(event) as { event_type: string }).event_type === key,
        );
        const sorted = own.toSorted((one, other) => one.offset - other.offset);
        expect(sorted.map(({ payload }) => payload)).toEqual(wanted);
      }
      for (const { payload, headers } of records) expect(headers).toEqual(['event_id', idOf(payload)]);
    },
  );
});
