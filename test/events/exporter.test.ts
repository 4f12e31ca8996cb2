import { expect, it } from 'vitest';
import { exporterTo } from '../../src/events/exporter.ts';
import type { Sent, Target } from '../../src/events/senders/sending.ts';

const world = {
  nowMs: Date.now,
  random: () => 1,
  post: () => Promise.reject(new Error('nothing is posted here')),
  retryMs: 1,
};
const event = (at: number): string =>
  JSON.stringify({ event_id: `ev_${at}`, event_type: 'a.v0', event_timestamp: new Date(0).toISOString() });

/** A queue that answers as given, and what it has taken. */
function queue(answer: (attempt: number) => string | null, limits?: Target['limits']) {
  const taken: string[] = [];
  let attempts = 0;
  const target: Target = {
    problem: null,
    ...(limits && { limits }),
    retryLimitMs: 2,
    send: async (events): Promise<Sent> => {
      const problem = answer(attempts++);
      await new Promise((resolve) => setImmediate(resolve));
      if (problem === null) taken.push(...events);
      return { problem };
    },
    giveUp: () => undefined,
    close: async () => undefined,
  };
  return { target, taken };
}

it('a queue that was away for long is asked at least as often as it wants', async () => {
  const { target, taken } = queue((attempt) => (attempt < 40 ? 'connection refused' : null));
  const said: string[] = [];
  const exporter = exporterTo('events', target, { ...world, say: (line) => said.push(line), way: 'to a' });
  exporter.take(event(0));
  // 40 doubled delays would take longer than the universe has.
  await expect.poll(() => taken).toEqual([event(0)]);
  await exporter.close();
  expect(said).toEqual([
    'sending to a failed; events wait in memory: connection refused',
    'sending to a works again',
  ]);
});

it('dropped events are announced once while a queue is away, and counted at the end', async () => {
  let isAway = true;
  const { target, taken } = queue(() => (isAway ? 'away' : null));
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const bufferLimitBytes = 10 * event(0).length;
  const exporter = exporterTo('events', target, { ...world, say, way: 'to a', bufferLimitBytes });
  for (let at = 0; at < 15; at++) exporter.take(event(at % 10));
  await expect.poll(() => said).toContain('sending to a failed; events wait in memory: away');
  isAway = false;
  await expect.poll(() => taken).toEqual(Array.from({ length: 10 }, (_, at) => event(at)));
  await exporter.close();
  expect(said).toEqual([
    'events are dropped: too many wait to be sent to a',
    'sending to a failed; events wait in memory: away',
    'sending to a works again',
    '5 events were not sent to a',
  ]);
});

it('a stop sends all that waits, however many batches that takes', async () => {
  const limits = { events: 3, bytes: 1_000_000, eventBytes: 1_000_000, overheadBytes: 0 };
  const { target, taken } = queue(() => null, limits);
  const said: string[] = [];
  const exporter = exporterTo('events', target, { ...world, say: (line) => said.push(line), way: 'to a' });
  const events = Array.from({ length: 100 }, (_, at) => event(at));
  for (const each of events) exporter.take(each);
  await exporter.close();
  expect(taken).toEqual(events);
  expect(said).toEqual([]);
});
