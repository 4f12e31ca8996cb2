import { describe, expect, it } from 'vitest';

import {
  type Breaker,
  type BreakerOutcome,
  type BreakerSettings,
  admit,
  admitted,
  concluded,
  newBreaker,
} from '../../src/filters/circuit_breaker/algorithm.ts';
import { runs, seeded } from '../random.ts';
import { NaiveBreaker } from './naive_breaker.ts';

const SETTINGS: BreakerSettings = {
  trippedMs: 10_000,
  windowMs: 10_000,
  buckets: 10,
  volumeThreshold: 4,
  errorThreshold: 0.5,
};

/** Admits one request and notes it; the decision, and how to conclude it. */
function send(breaker: Breaker, settings: BreakerSettings, nowMs: number) {
  const admission = admit(breaker, nowMs);
  admitted(breaker, settings, admission, nowMs);
  const conclude = (outcome: BreakerOutcome, atMs = nowMs): void =>
    concluded(breaker, settings, admission.serial, outcome, atMs);
  return { decision: admission.decision, conclude };
}

/** Sends requests that end at once; returns the decision on each. */
function run(
  breaker: Breaker,
  settings: BreakerSettings,
  script: readonly (readonly [number, BreakerOutcome])[],
): string {
  return script
    .map(([nowMs, outcome]) => {
      const { decision, conclude } = send(breaker, settings, nowMs);
      conclude(outcome);
      return decision;
    })
    .join(' ');
}

function tripped(): Breaker {
  const breaker = newBreaker(SETTINGS);
  run(
    breaker,
    SETTINGS,
    Array.from({ length: 4 }, () => [0, 'failure'] as const),
  );
  return breaker;
}

describe('a circuit breaker', () => {
  it('opens at the error threshold, not before the volume threshold', () => {
    const outcomes: BreakerOutcome[] = ['failure', 'success', 'failure', 'success', 'success'];
    const script = outcomes.map((outcome, at) => [at, outcome] as const);
    expect(run(newBreaker(SETTINGS), SETTINGS, script)).toBe('closed closed closed closed open');
    const picky = { ...SETTINGS, errorThreshold: 0.51 };
    expect(run(newBreaker(picky), picky, script)).toBe('closed closed closed closed closed');
  });

  it('opens after the first request with threshold 0 and volume 1, even after a success', () => {
    const settings = { ...SETTINGS, volumeThreshold: 1, errorThreshold: 0 };
    expect(
      run(newBreaker(settings), settings, [
        [0, 'success'],
        [1, 'success'],
      ]),
    ).toBe('closed open');
  });

  it('reaches thresholds that a floating point product would miss', () => {
    const settings = { ...SETTINGS, volumeThreshold: 100, errorThreshold: 0.07 };
    const breaker = newBreaker(settings);
    for (let count = 0; count < 100; count++)
      send(breaker, settings, 0).conclude(count < 7 ? 'failure' : 'success');
    expect(admit(breaker, 0).decision).toBe('open');
  });

  it('forgets outcomes outside the window', () => {
    const three: readonly (readonly [number, BreakerOutcome])[] = [
      [0, 'failure'],
      [0, 'failure'],
      [0, 'failure'],
    ];
    expect(run(newBreaker(SETTINGS), SETTINGS, [...three, [9_999, 'failure'], [9_999, 'success']])).toMatch(
      /open$/,
    );
    expect(run(newBreaker(SETTINGS), SETTINGS, [...three, [10_000, 'failure'], [10_000, 'success']])).toMatch(
      /closed$/,
    );
  });

  it('does not count cancelled requests', () => {
    const script = Array.from({ length: 20 }, (_, at) => [at, 'cancelled'] as const);
    expect(run(newBreaker(SETTINGS), SETTINGS, script)).not.toContain('open');
  });

  it('stays open for the whole duration, then admits one probe', () => {
    const breaker = tripped();
    expect(
      run(breaker, SETTINGS, [
        [1, 'success'],
        [9_999, 'success'],
      ]),
    ).toBe('open open');
    const probe = send(breaker, SETTINGS, 10_000);
    expect(probe.decision).toBe('probe');
    expect(send(breaker, SETTINGS, 10_001).decision).toBe('open');
    probe.conclude('success', 10_002);
    // Closed, with an empty window: the old failures do not count on.
    expect(
      run(breaker, SETTINGS, [
        [10_003, 'failure'],
        [10_003, 'failure'],
        [10_003, 'failure'],
        [10_003, 'success'],
      ]),
    ).toBe('closed closed closed closed');
    expect(send(breaker, SETTINGS, 10_004).decision).toBe('open');
  });

  it('stays open for another duration if the probe fails', () => {
    const breaker = tripped();
    send(breaker, SETTINGS, 12_000).conclude('failure', 15_000);
    expect(admit(breaker, 24_999).decision).toBe('open');
    expect(admit(breaker, 25_000).decision).toBe('probe');
  });

  it('admits the next probe immediately after a cancelled one', () => {
    const breaker = tripped();
    const probe = send(breaker, SETTINGS, 10_000);
    expect(send(breaker, SETTINGS, 10_001).decision).toBe('open');
    probe.conclude('cancelled', 10_002);
    expect(send(breaker, SETTINGS, 10_002).decision).toBe('probe');
    probe.conclude('cancelled', 10_003);
    expect(send(breaker, SETTINGS, 10_003).decision).toBe('open');
  });

  it('does not wait forever for a probe', () => {
    const breaker = tripped();
    const lost = send(breaker, SETTINGS, 10_000);
    expect(send(breaker, SETTINGS, 19_999).decision).toBe('open');
    expect(send(breaker, SETTINGS, 20_000).decision).toBe('probe');
    // The lost probe does not free a place for a third, but its late result counts.
    lost.conclude('cancelled', 20_001);
    expect(send(breaker, SETTINGS, 20_001).decision).toBe('open');
    const slow = tripped();
    const first = send(slow, SETTINGS, 10_000);
    const second = send(slow, SETTINGS, 20_000);
    first.conclude('success', 20_001);
    expect(admit(slow, 20_001).decision).toBe('closed');
    second.conclude('failure', 20_002);
    expect(admit(slow, 20_002).decision).toBe('closed');
  });

  it('admits exactly one of 1,000 concurrent requests as a probe', () => {
    const breaker = tripped();
    const decisions = Array.from({ length: 1_000 }, () => send(breaker, SETTINGS, 10_000).decision);
    expect(decisions.filter((decision) => decision === 'probe')).toHaveLength(1);
    expect(decisions.filter((decision) => decision === 'open')).toHaveLength(999);
  });

  it('ignores outcomes of requests admitted before it opened', () => {
    const breaker = newBreaker(SETTINGS);
    const early = Array.from({ length: 50 }, () => send(breaker, SETTINGS, 0));
    for (const { conclude } of early.slice(0, 4)) conclude('failure');
    early[4]!.conclude('success', 5_000);
    expect(admit(breaker, 5_000).decision).toBe('open');
    send(breaker, SETTINGS, 10_000).conclude('success');
    for (const { conclude } of early.slice(5)) conclude('failure', 10_001);
    expect(admit(breaker, 10_001).decision).toBe('closed');
  });

  it('treats a clock that steps back as stopped', () => {
    const breaker = newBreaker(SETTINGS);
    const hour = 3_600_000;
    run(breaker, SETTINGS, [
      [hour, 'failure'],
      [hour, 'failure'],
      [0, 'failure'],
      [1, 'failure'],
    ]);
    expect(send(breaker, SETTINGS, 2).decision).toBe('open');
    expect(send(breaker, SETTINGS, -hour).decision).toBe('open');
    expect(send(breaker, SETTINGS, -hour + 9_998).decision).toBe('open');
    expect(send(breaker, SETTINGS, -hour + 9_999).decision).toBe('probe');
  });

  it('works with 1 and 128 buckets, and with windows that are not divisible by them', () => {
    for (const buckets of [1, 3, 7, 128]) {
      const settings = { ...SETTINGS, buckets, windowMs: 1_000 };
      const script = Array.from({ length: 4 }, (_, at) => [at * 10, 'failure'] as const);
      expect(run(newBreaker(settings), settings, [...script, [31, 'success']])).toMatch(/ open$/);
    }
  });
});

describe('compared with a naive implementation', () => {
  it('decides the same for random sequences', () => {
    const random = seeded(12);
    const below = (limit: number): number => Math.floor(random() * limit);
    const decisions = { closed: 0, open: 0, probe: 0 };
    const differences: unknown[] = [];
    const sequences = runs(100_000);
    for (let sequence = 0; sequence < sequences; sequence++) {
      const settings: BreakerSettings = {
        trippedMs: 1 + below(40),
        windowMs: 1 + below(60),
        buckets: 1 + below(random() < 0.9 ? 10 : 128),
        volumeThreshold: below(6),
        errorThreshold: [0, 0.2, 0.5, 2 / 3, 1][below(5)]!,
      };
      const breaker = newBreaker(settings);
      const naive = new NaiveBreaker(settings);
      const under: { readonly serial: number; readonly ticket: number }[] = [];
      let nowMs = below(1_000_000);
      for (let step = 0; step < 24; step++) {
        nowMs += random() < 0.05 ? -below(100) : random() < 0.5 ? 0 : below(25);
        if (random() < 0.55 || under.length === 0) {
          const admission = admit(breaker, nowMs);
          admitted(breaker, settings, admission, nowMs);
          const { decision, ticket } = naive.request(nowMs);
          decisions[decision]++;
          if (decision !== admission.decision) differences.push({ sequence, step, decision, admission });
          under.push({ serial: admission.serial, ticket });
        } else {
          const [{ serial, ticket }] = under.splice(below(under.length), 1) as [(typeof under)[number]];
          const outcome = (['failure', 'failure', 'success', 'cancelled'] as const)[below(4)]!;
          concluded(breaker, settings, serial, outcome, nowMs);
          naive.end(ticket, outcome, nowMs);
        }
      }
    }
    expect(differences).toEqual([]);
    expect(Math.min(decisions.closed, decisions.open, decisions.probe)).toBeGreaterThan(sequences / 5);
  });
});
