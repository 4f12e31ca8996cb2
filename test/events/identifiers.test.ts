import { describe, expect, it } from 'vitest';
import { idMaker } from '../../src/events/identifiers.ts';
import { seeded } from '../random.ts';

describe('identifiers', () => {
  it('are a prefix and 27 lower-case letters and digits', () => {
    expect(idMaker('ev', seeded(1))(Date.now())).toMatch(/^ev_[0-9a-z]{27}$/);
  });

  it('sort by time, and in the order made within a millisecond', () => {
    const make = idMaker('ev', () => 0.999_99);
    const ids = [];
    for (let nowMs = 1_800_000_000_000; nowMs < 1_800_000_000_010; nowMs++) {
      for (let count = 0; count < 10_000; count++) ids.push(make(nowMs));
    }
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are deterministic for a seed', () => {
    expect(idMaker('ev', () => 0.25)(5)).toBe(idMaker('ev', () => 0.25)(5));
  });
});
