import { expect, it } from 'vitest';
import { memoryState } from '../../src/shared_state/memory.ts';

const LIMIT = { do: 'take', limit: 'a', key: 'k', capacity: 2, windowMs: 60_000 } as const;

it('counts as a single process does, on the clock that it is given', () => {
  const { answer } = memoryState();
  expect([0, 1, 2].map((nowMs) => answer(LIMIT, nowMs))).toEqual([
    { waitMs: 0 },
    { waitMs: 0 },
    { waitMs: 65_998 },
  ]);
  expect(answer(LIMIT, 66_000)).toEqual({ waitMs: 0 });
});

it('forgets the limits of former configurations once their counts have expired', () => {
  const state = memoryState();
  for (let at = 0; at < 500; at++) state.answer({ ...LIMIT, limit: `former ${at}` }, 0);
  state.answer(LIMIT, 60_000);
  expect(state.limits()).toBe(501);
  state.answer({ ...LIMIT, limit: 'b' }, 120_001);
  expect(state.limits()).toBe(2);
});

it('takes ids of messages and assertions once until their time', () => {
  const { answer } = memoryState();
  for (const kind of ['message', 'assertion'] as const) {
    const once = { do: 'use_once', of: kind, id: 'x', sinceMs: 0, untilMs: 100 } as const;
    expect([answer(once, 0), answer(once, 1)]).toEqual([{ use: 'fresh' }, { use: 'used' }]);
  }
});

it('takes an id of a message again after its time, also behind one that lasts longer', () => {
  const { answer } = memoryState();
  const once = (id: string, untilMs: number) =>
    ({ do: 'use_once', of: 'message', id, sinceMs: 0, untilMs }) as const;
  answer(once('longer', 1_000), 0);
  const all = [0, 99, 100, 199].map((nowMs) => answer(once('x', nowMs + 100), nowMs));
  expect(all).toEqual([{ use: 'fresh' }, { use: 'used' }, { use: 'fresh' }, { use: 'used' }]);
});

it('keeps the used ids of logout messages while more states and checks are used than are remembered', () => {
  const { answer } = memoryState();
  const once = (of: 'state' | 'message' | 'check', id: string) =>
    answer({ do: 'use_once', of, id, sinceMs: 0, untilMs: 100 }, 0);
  expect(once('message', 'logout')).toEqual({ use: 'fresh' });
  for (let at = 0; at < 50_001; at++) {
    once('state', String(at));
    once('check', String(at));
  }
  expect(once('message', 'logout')).toEqual({ use: 'used' });
});

it('keeps texts until their time, the newest 5,000, none without bound', () => {
  const { answer } = memoryState();
  const keep = (id: string, text: string) => answer({ do: 'keep', id, text, untilMs: 100 }, 0);
  keep('a', 'one');
  keep('a', 'two');
  expect(answer({ do: 'find', id: 'a' }, 99)).toEqual({ text: 'two' });
  expect(answer({ do: 'find', id: 'a' }, 100)).toEqual({ text: null });
  keep('long', 'x'.repeat(64_001));
  expect(answer({ do: 'find', id: 'long' }, 0)).toEqual({ text: null });
  for (let at = 0; at < 5_000; at++) keep(String(at), 'x');
  expect([answer({ do: 'find', id: 'a' }, 0), answer({ do: 'find', id: '0' }, 0)]).toEqual([
    { text: null },
    { text: 'x' },
  ]);
});
