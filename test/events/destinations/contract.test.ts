import { afterEach, describe, expect, it } from 'vitest';
import { callbackPost } from '../../../src/clients/callback_post.ts';
import { guardedDial } from '../../../src/clients/guarded_dial.ts';
import { kafkaQueue } from '../../../src/clients/kafka.ts';
import { natsQueue } from '../../../src/clients/nats.ts';
import { deliver } from '../../../src/events/delivery.ts';
import type { DeliveryOptions } from '../../../src/events/outbox.ts';
import { type Received, SERVICES, type Service, startDouble } from './doubles.ts';
import type { Reply } from './tcp_double.ts';
import { eventOf, idOf, memoryOutbox } from './outbox.ts';
import { IS_FULL } from '../../random.ts';

/** What every destination that leaves the machine keeps. */

const open: (() => unknown)[] = [];
/** Machines of tests are slow at times. */
const SOON = { timeout: 30_000 };

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const reach = { own: [], allowPrivate: true };
const post = callbackPost(reach);
const dial = guardedDial(reach);
const closed = { own: [], allowPrivate: false };
const guardedDialer = guardedDial(closed);
/** The operator allowed no private addresses. */
const guarded: Partial<DeliveryOptions> = {
  post: callbackPost(closed),
  queues: {
    nats: (settings) => natsQueue(settings, guardedDialer),
    kafka: (settings) => kafkaQueue(settings, guardedDialer),
  },
};

async function connect(service: Service, options: Partial<DeliveryOptions> = {}) {
  const stored: string[] = [];
  const batches: string[][] = [];
  /** Replies to the next requests with events, before the service accepts. */
  const replies: Reply[] = [];
  const refused: string[] = [];
  const receive = (events: readonly string[]): Reply | null => {
    batches.push(events.map(idOf));
    const reply = replies.shift() ?? null;
    if (reply === null) stored.push(...events);
    return reply;
  };
  const overHttp = (received: Received): Reply => {
    const aside = service.aside?.(received);
    if (aside) return aside;
    try {
      const events = service.eventsOf!(received);
      return receive(events) ?? service.accept!(events.length);
    } catch (error) {
      refused.push((error as Error).message);
      return { status: 400, body: { message: (error as Error).message } };
    }
  };
  const double = await (service.start?.(receive) ?? startDouble(overHttp));
  open.push(double.close);
  // A second destination, which does not answer: nothing about the first may change.
  const silent = await startDouble(() => ({ status: 503 }));
  open.push(silent.close);
  const targets = {
    ed_1: service.target(double.url),
    ed_dead: { debug: { log: false, callback_url: silent.url, signing_secret: 'whsec_' } },
  };
  const outbox = memoryOutbox(targets);
  const start = async () => {
    const delivering = await deliver(outbox, {
      nowMs: Date.now,
      random: () => 0.5,
      say: () => {},
      post,
      queues: {
        nats: (settings) => natsQueue(settings, dial),
        kafka: (settings) => kafkaQueue(settings, dial),
      },
      retryMs: 4,
      endpoint: (name) => (name === service.endpoint ? double.url : undefined),
      ...options,
    });
    open.push(delivering.close);
    return delivering;
  };
  return { stored, batches, replies, refused, outbox, start };
}

const ids = (count: number) => Array.from({ length: count }, (_, number) => idOf(eventOf(number)));

/** One service and one queue: each takes megabytes. */
const DIVIDED_IN_SHORT_RUNS = new Set(['cloudwatch_logs', 'nats']);

describe.each(Object.entries(SERVICES))('%s', (name, service) => {
  it('stores every event once in order, whatever the failures before, and beside a dead destination', async () => {
    const { stored, batches, replies, refused, outbox, start } = await connect(service);
    replies.push({ status: 502 }, { status: 429, headers: { 'retry-after': '0' } }, { status: 503 });
    const events = Array.from({ length: 20 }, (_, number) => eventOf(number));
    for (const event of events) outbox.add(event);
    const delivering = await start();
    await expect.poll(() => delivering.statusOf('ed_1').waiting, SOON).toBe(0);
    expect(refused).toEqual([]);
    expect(stored).toEqual(events);
    expect(new Set(batches.slice(0, 4).map(String)).size).toBe(1);
    const { state, message, last_error: last, waiting_ms: age } = delivering.statusOf('ed_1');
    expect([state, message, age]).toEqual(['ok', '', 0]);
    expect(last).toMatch(service.refusal ?? / answered 503/);
    const other = delivering.statusOf('ed_dead');
    expect([other.state, other.waiting]).toEqual(['failing', 20]);
    expect(other.waiting_ms).toBeGreaterThan(0);
  });

  it('keeps an event that is too large as a dead letter, and sends the others', async () => {
    const { stored, outbox, start } = await connect(service);
    outbox.add(eventOf(0));
    outbox.add(eventOf(1, service.eventBytes));
    outbox.add(eventOf(2));
    const delivering = await start();
    await expect.poll(() => stored.map(idOf), SOON).toEqual(['ev_00000', 'ev_00002']);
    await expect
      .poll(() => delivering.statusOf('ed_1'), SOON)
      .toMatchObject({ waiting: 0, dead: 1, state: 'ok' });
    const letter = outbox.dead.find(({ destination }) => destination === 'ed_1');
    expect(letter!.reason).toMatch(/larger than the \d+ bytes/);
    expect(idOf(letter!.event)).toBe('ev_00001');
  });

  it.runIf(IS_FULL || DIVIDED_IN_SHORT_RUNS.has(name))(
    'divides what exceeds the limits of a request',
    async () => {
      const { stored, batches, outbox, start } = await connect(service);
      const count = 12;
      for (let number = 0; number < count; number++) outbox.add(eventOf(number, 480_000));
      await start();
      await expect.poll(() => stored.map(idOf), SOON).toEqual(ids(count));
      expect(batches.length).toBeGreaterThan(1);
    },
  );

  it('keeps events as dead letters that the service alone calls too large', async () => {
    const { stored, replies, outbox, start } = await connect(service);
    for (const number of [0, 1, 2, 3]) outbox.add(eventOf(number));
    replies.push({ status: 413 }, { status: 413 }, { status: 413 });
    const delivering = await start();
    const isDivided = service.divides !== false;
    if (isDivided)
      await expect.poll(() => stored.map(idOf), SOON).toEqual(['ev_00001', 'ev_00002', 'ev_00003']);
    await expect
      .poll(() => outbox.dead.map(({ event }) => idOf(event)), SOON)
      .toEqual(isDivided ? ['ev_00000'] : ids(4));
    await expect.poll(() => delivering.statusOf('ed_1').last_error, SOON).toBe(outbox.dead.at(-1)!.reason);
  });

  it('is not sent to a private address unless allowed; the status has lag, age and the last error', async () => {
    const { batches, outbox, start } = await connect(service, guarded);
    outbox.add(eventOf(0));
    const delivering = await start();
    await expect.poll(() => delivering.statusOf('ed_1').state, SOON).toBe('failing');
    const {
      waiting,
      waiting_ms: age,
      message,
      last_error: last,
      last_error_at: at,
    } = delivering.statusOf('ed_1');
    expect([batches, waiting, last]).toEqual([[], 1, message]);
    expect(age).toBeGreaterThan(0);
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(message).toMatch(/is an address of this machine or its network/);
  });

  it.skipIf(service.start !== undefined)('does not follow redirects', async () => {
    const { stored, batches, replies, outbox, start } = await connect(service);
    replies.push({ status: 307, headers: { location: '/elsewhere' } });
    outbox.add(eventOf(0));
    const delivering = await start();
    await expect.poll(() => stored.map(idOf), SOON).toEqual(['ev_00000']);
    expect(batches).toHaveLength(2);
    expect(delivering.statusOf('ed_1').last_error).toMatch(/ answered 307/);
  });

  it('bounds traffic events in memory and counts the dropped ones', async () => {
    const { start } = await connect(service, { bufferLimitBytes: 2_000 });
    const delivering = await start();
    const event = (number: number) => ({
      ...(JSON.parse(eventOf(number, 500)) as { event_id: string; object: object }),
      event_type: 'http_request_complete.v0',
    });
    for (let number = 0; number < 50; number++) delivering.traffic(event(number));
    const { waiting, dropped } = delivering.statusOf('ed_1');
    expect(waiting).toBeLessThan(5);
    expect(waiting + dropped).toBe(50);
    expect(dropped).toBeGreaterThan(45);
  });
});
