import { expect, test } from 'vitest';
import { pointsWith } from '../../src/coverage/point.ts';
import { type Recorder, recorder } from '../../src/coverage/recorder.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { plainDraft } from '../../src/simulator/search/draft.ts';
import { openPoints } from '../../src/simulator/search/live.ts';
import { oneRoute } from '../one_route.ts';

const COUNT = 1_000;
const DRAFT = plainDraft(checkWholeEdge({ value: oneRoute() }).config!, '/');

/** As if a run had hit these keys. */
function hit(own: Recorder, ...keys: readonly string[]): void {
  own.preload({ hits: Object.fromEntries(keys.map((key) => [key, 1])), expressions: {}, requests: 1 });
}

test('a run costs as much as the points that it can have covered, not as all open ones', () => {
  const own = recorder();
  let read = 0;
  const points = pointsWith(
    { kind: 'rules', span: null, pointer: '', routes: [], impossible: null } as const,
    Array.from({ length: COUNT }, (_each, index) => ({
      id: `${index}`,
      message: '',
      seen: {
        by: 'hit' as const,
        get keys() {
          read++;
          return [`rule ${index}`, 'rule any'];
        },
      },
    })),
  );
  hit(own, 'rule 0');
  const open = openPoints(points, own);
  read = 0;
  expect(open.take(DRAFT)).toEqual({ points: [], isNovel: false });
  hit(own, 'rule 7', 'rule 5');
  expect(open.take(DRAFT)).toEqual({ points: [points[5], points[7]], isNovel: true });
  // Once to test a point, and once to close it.
  expect(read).toBe(4);
  hit(own, 'rule 7');
  expect(open.take(DRAFT)).toEqual({ points: [], isNovel: false });
  expect(open.count()).toBe(COUNT - 2);
  read = 0;
  hit(own, 'rule any');
  expect(open.take(DRAFT).points).toHaveLength(COUNT - 2);
  expect(open.count()).toBe(0);
  // Points that were covered before are not tested again.
  expect(read).toBe(2 * (COUNT - 2));
});
