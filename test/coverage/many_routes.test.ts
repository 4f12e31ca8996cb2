import { expect, test } from 'vitest';
import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import { isOpen } from '../../src/coverage/point.ts';
import { findCases } from '../../src/simulator/search/cover_points.ts';
import { emittedCases } from '../../src/simulator/search/emit.ts';
import { edgeOf } from './covered.ts';

test('offered cases of more routes than are checked at once are all run', () => {
  const routes = Array.from({ length: 120 }, (_, at) => ({
    match_type: 'path_prefix',
    match: `/app/${at}/`,
    backend: { backend_id: 'app' },
  }));
  const covered = coveredEdge(
    edgeOf({
      backends: { app: { static: { address: 'localhost:3000' } } },
      edges: { https: { shop: { hostports: ['shop.test:443'], routes } } },
    }),
  );
  const found = findCases(covered, []);
  const { cases, points } = emittedCases(covered, found, { edge: './edge.json' });
  expect(cases.length).toBeGreaterThan(120);
  expect(points).toEqual(found.flatMap((each) => each.points));
  expect(points.length).toBe(coverageOf(covered).points.filter(isOpen).length);
});
