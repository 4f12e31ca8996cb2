import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configMutants } from '../../src/analysis/config_mutants.ts';
import { coveredEdge } from '../../src/coverage/coverage.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { mayAffect, routeOf, routesTaken } from '../../src/simulator/search/change_scope.ts';
import { findCases } from '../../src/simulator/search/cover_points.ts';
import { type DraftRun, draftRunner } from '../../src/simulator/search/run_draft.ts';

const SAMPLE = new URL('../../fixtures/sample/edge.yaml', import.meta.url);

/** What a client and an upstream see of a run. */
function seenIn({ simulatedRequests }: DraftRun): string {
  return JSON.stringify(
    simulatedRequests.map(({ response: { status, headers }, seen }) => [
      status,
      headers,
      seen?.map(({ request: { target, headers: fields } }) => [target, fields]),
    ]),
  );
}

test('requests that a mistake affects are among those that it may affect, and others are left out', () => {
  const { config } = checkWholeEdge({ value: parse(readFileSync(SAMPLE, 'utf8')) });
  const covered = coveredEdge(edgeFixture(config!, () => null));
  const routes = new Map(covered.routes.map((route) => [route.pointer, route]));
  const drafts = findCases(covered, []).map(({ draft }) => draft);
  const run = draftRunner(covered.edge.unwatched());
  const requests = drafts.map((draft) => {
    const ran = run(draft);
    return { draft, routes: routesTaken(ran), isLogin: false, seen: seenIn(ran) };
  });
  const counts = { affected: 0, leftOut: 0 };
  for (const { pointer, config: value } of configMutants(config!)) {
    const { config: changed } = checkWholeEdge({ value });
    if (changed === null) continue;
    const runChanged = draftRunner(edgeFixture(changed, () => null));
    const isPossible = mayAffect(pointer, routeOf(pointer, routes), { routes, changed });
    for (const request of requests) {
      const isAffected = seenIn(runChanged(request.draft)) !== request.seen;
      if (isAffected) expect([pointer, request.draft.path, isPossible(request)]).toContain(true);
      counts.affected += Number(isAffected);
      counts.leftOut += Number(!isPossible(request));
    }
  }
  expect(counts.affected).toBeGreaterThan(50);
  expect(counts.leftOut).toBeGreaterThan(50);
});
