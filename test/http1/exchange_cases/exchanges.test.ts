import { describe, expect, it } from 'vitest';
import { IS_FULL } from '../../random.ts';
import type { CaseGroup } from './case.ts';
import { GROUPS } from './cases/all.ts';
import { playOurs } from './our_edge.ts';

const WAYS = ['whole', 'bytes', 'random'] as const;

/** Short runs play a case in pieces of one kind, half of the cases in each. */
function waysOf({ inOnePiece, name }: CaseGroup['cases'][number]): readonly (typeof WAYS)[number][] {
  if (inOnePiece === true) return ['whole'];
  return IS_FULL ? WAYS : ['whole', name.length % 2 === 0 ? 'bytes' : 'random'];
}

describe.each(GROUPS)('$title', ({ cases }) => {
  it.concurrent.for(cases)('$name', async (one) => {
    for (const way of waysOf(one)) {
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
