import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SimulatedRequest } from '../../src/simulator/simulated_request.ts';
import { failed, runValue } from './scenario.ts';
import { IS_FULL, sized } from '../random.ts';

const START = Date.UTC(2026, 0, 1);

interface Burst {
  readonly at: number;
  readonly count: number;
  readonly every: number;
  readonly latency: number;
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly does: 'script' | 'send' | 'land';
  readonly burst: number;
  readonly turn: number;
}

/** When requests are sent and answered, from a list that is searched for its minimum each time. */
function naive(bursts: readonly Burst[]): string[] {
  let order = 0;
  const list: Event[] = [];
  const add = (at: number, does: Event['does'], burst: number, turn: number) =>
    void list.push({ at, order: order++, does, burst, turn });
  bursts.forEach(({ at }, burst) => {
    add(at, 'script', burst, 0);
    add(at, 'send', burst, 0);
  });
  const completed: string[] = [];
  let latency = 0;
  while (list.length > 0) {
    // Simultaneous steps are in the order of the file; responses come last.
    const rank = ({ does, burst }: Event) => (does === 'land' ? bursts.length : burst);
    const next = list.reduce((one, other) => {
      const difference = other.at - one.at || rank(other) - rank(one) || other.order - one.order;
      return difference < 0 ? other : one;
    });
    list.splice(list.indexOf(next), 1);
    const { at, does, burst, turn } = next;
    const land = () => completed.push(`/${burst}/ at ${at}`);
    if (does === 'script') latency = bursts[burst]!.latency;
    else if (does === 'land') land();
    else {
      const { at: from, count, every } = bursts[burst]!;
      if (turn + 1 < count) add(from + (turn + 1) * every, 'send', burst, turn + 1);
      if (latency === 0) land();
      else add(at + latency, 'land', burst, turn);
    }
  }
  return completed;
}

describe('a timeline', () => {
  it('keeps the order of the file among steps at the same time', () => {
    const timeline = [
      { at: '0s', upstreams: { app: 200 }, send: { path: '/', count: 3 }, expect: { status: 200 } },
      { at: '0s', upstreams: { app: 404 }, send: { path: '/', count: 3 }, expect: { status: 404 } },
      { send: '/', expect: { status: 404 } },
    ];
    expect(failed(runValue({ cases: [{ name: 'steps', timeline }] }))).toEqual([]);
  });

  it('interleaves overlapping bursts as a naive reference does', () => {
    const burst = fc.record({
      at: fc.nat(30),
      count: fc.integer({ min: 1, max: 6 }),
      every: fc.nat(8),
      latency: fc.nat(25),
    });
    fc.assert(
      fc.property(fc.array(burst, { minLength: 1, maxLength: 6 }), (bursts) => {
        const completed: string[] = [];
        const hear = ({ exchange, endMs }: SimulatedRequest) =>
          void completed.push(`${exchange.head.path} at ${endMs - START}`);
        const timeline = bursts.map(({ at, count, every, latency }, index) => ({
          at: `${at}ms`,
          upstreams: { app: { latency: `${latency}ms` }, next: { latency: `${latency}ms` } },
          send: { path: `/${index}/`, count, every: `${every}ms` },
          expect: { status: 200 },
        }));
        const result = runValue({ cases: [{ name: 'bursts', timeline }] }, { completed: hear });
        expect(failed(result)).toEqual([]);
        expect(completed).toEqual(naive(bursts));
      }),
      sized(300, 20_261_121),
    );
  });

  it('runs 24 virtual hours with many requests and a breaker', () => {
    const count = IS_FULL ? 1_000_000 : 100_000;
    const send = { path: '/api', count, every: `${86_400_000 / count}ms` };
    const result = runValue({ cases: [{ name: 'day', timeline: [{ send, expect: { status: 200 } }] }] });
    expect(result.cases[0]).toMatchObject({ status: 'passed', requests: count });
  });
});
