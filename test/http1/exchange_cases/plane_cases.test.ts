import { describe, expect, it } from 'vitest';
import { GROUPS } from './cases/all.ts';
import { playOurs } from './our_edge.ts';
import { WAITING } from './waiting.ts';

const WAYS = ['whole', 'bytes', 'random'] as const;

/** `PLANE_ALL=1` plays those that wait, too. */
const PLAY_ALL = process.env['PLANE_ALL'] === '1';

describe.each(GROUPS)('$title', ({ title, cases }) => {
  it.concurrent.for(cases)('$name', async (one, { skip }) => {
    skip(!PLAY_ALL && WAITING.has(`${title}: ${one.name}`), 'not held yet');
    for (const way of one.inOnePiece === true ? (['whole'] as const) : WAYS) {
      const { says } = await playOurs(one, way);
      expect(says, `sent ${way}`).toEqual([]);
    }
  });
});

describe('the list of cases', () => {
  const names = GROUPS.flatMap(({ title, cases }) => cases.map(({ name }) => `${title}: ${name}`));

  it('is long enough, and no name is there twice', () => {
    expect(names.length).toBeGreaterThanOrEqual(150);
    expect(new Set(names).size).toBe(names.length);
  });

  it('has every case that waits', () => {
    expect([...WAITING].filter((name) => !names.includes(name))).toEqual([]);
  });
});
