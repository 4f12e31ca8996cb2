import { describe, expect, it } from 'vitest';
import { GROUPS } from './cases/all.ts';
import { playOurs } from './our_edge.ts';

const WAYS = ['whole', 'bytes', 'random'] as const;

describe.each(GROUPS)('$title', ({ cases }) => {
  it.concurrent.for(cases)('$name', async (one) => {
    for (const way of one.inOnePiece === true ? (['whole'] as const) : WAYS) {
      const { says } = await playOurs(one, way);
      expect(says, `sent ${way}`).toEqual([]);
    }
  });
});

describe('the list of cases', () => {
  const names = GROUPS.flatMap(({ title, cases }) => cases.map(({ name }) => `${title}: ${name}`));

  it('is long enough and has unique names', () => {
    expect(names.length).toBeGreaterThanOrEqual(150);
    expect(new Set(names).size).toBe(names.length);
  });
});
