import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { type Coverage, type CoveredEdge, coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import type { MeasuredPoint, PointKind } from '../../src/coverage/point.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import type { FileResult } from '../../src/simulator/result.ts';
import { runFile, ONCE } from '../../src/simulator/run_file.ts';
import { type EdgeFixture, edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { oneRoute } from '../one_route.ts';

/** An edge with one route `/` before a backend `app`, plus the given members. */
export function edgeWith(route: object, more: object = {}): EdgeFixture {
  return edgeOf(oneRoute(route, more));
}

export function edgeOf(value: object): EdgeFixture {
  const checked = checkWholeEdge({ value });
  if (checked.config === null) throw new Error(checked.diagnostics.map(({ message }) => message).join('\n'));
  return edgeFixture(checked.config, checked.locate);
}

/** An edge with a policy of request rules on its route. */
export function policyEdge(...rules: readonly object[]): EdgeFixture {
  return edgeWith({ traffic_policy: { value: JSON.stringify({ on_http_request: rules }) } });
}

/** Runs cases on a covered edge. */
export function runCases({ edge }: CoveredEdge, cases: readonly object[]): FileResult {
  const named = cases.map((each, index) => ({ name: `case ${index}`, ...each }));
  const checked = checkScenario({ value: { edge: 'edge', cases: named }, name: 'x.ts' });
  const result = runFile(checked, edge, ONCE);
  const problems = result.diagnostics.filter(({ severity }) => severity === 'error');
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join('\n'));
  return result;
}

/** The coverage of an edge by requests whose responses do not matter. */
export function coveredBy(edge: EdgeFixture, requests: readonly (string | object)[]): Coverage {
  const covered = coveredEdge(edge);
  runCases(
    covered,
    requests.map((request) => ({ request, expect: { status: { matches: '.*' } } })),
  );
  return coverageOf(covered);
}

/** Points of a kind, as sentences that include whether they were covered. */
export function told({ points }: Coverage, kind: PointKind): Record<string, boolean> {
  return Object.fromEntries(
    points
      .filter((point) => point.kind === kind)
      .map(({ message, uncovered }) => [message, uncovered === null]),
  );
}

/** The point with this sentence. */
export function pointThat({ points }: Coverage, message: string): MeasuredPoint {
  const found = points.find((point) => point.message === message);
  if (found === undefined) throw new Error(`no point says ${message}`);
  return found;
}
