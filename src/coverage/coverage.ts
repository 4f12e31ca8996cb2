import type { EdgeConfig } from '../edge/document/schema.ts';
import { extended } from '../edge/extension.ts';
import type { EdgeFixture } from './edge_fixture.ts';
import { type Tally, hitCounter, measure, isOpenIn, tallies } from './measure.ts';
import type { CoveragePoint, MeasuredPoint } from './point.ts';
import { type PlacedRoute, placedAll } from './placed_routes.ts';
import { pointsOf } from './points.ts';
import { endingsOf } from './policy_facts.ts';
import { labelOf, policyOf, rulesOf } from './policy_points.ts';
import { type Recorder, type Recording, mergedRecordings, recorder } from './recorder.ts';
import { type RuleNote, type WhySetting, whySetting } from './why.ts';

/** An edge whose coverage is recorded. */
export interface CoveredEdge {
  /** The edge to run cases on; it records their effects. */
  readonly edge: EdgeFixture;
  /** Its configuration, with the further parts. */
  readonly config: EdgeConfig;
  /** Further parts that count, too: the endpoints that agents of the cases bind. */
  readonly parts: readonly EdgeConfig[];
  readonly of: 'edge' | 'policy';
  readonly recorder: Recorder;
  readonly routes: readonly PlacedRoute[];
  /** Everything that a case can cover. */
  readonly points: readonly CoveragePoint[];
  readonly rules: readonly RuleNote[];
}

/** The coverage of an edge by a recording. */
export interface Coverage {
  readonly points: readonly MeasuredPoint[];
  readonly tallies: readonly Tally[];
  readonly requests: number;
}

/**
 * An edge under test that records the effects of cases. With `policy` only points inside traffic policies
 * count, because the route around a policy that is tested alone is artificial.
 */
export function coveredEdge(edge: EdgeFixture, of: CoveredEdge['of'] = 'edge'): CoveredEdge {
  const own = recorder();
  return coveredParts(edge.watched(own), own, of, []);
}

/** The same recording of an edge, whose further parts count, too. */
export function withParts(
  { edge, recorder: own, of }: CoveredEdge,
  parts: readonly EdgeConfig[],
): CoveredEdge {
  return coveredParts(edge, own, of, parts);
}

function coveredParts(
  edge: EdgeFixture,
  own: Recorder,
  of: CoveredEdge['of'],
  parts: readonly EdgeConfig[],
): CoveredEdge {
  compileAll(edge, parts);
  const config = parts.length === 0 ? edge.config : extended(edge.config, parts);
  const routes = placedAll(config);
  return {
    edge,
    config,
    parts,
    of,
    recorder: own,
    routes,
    points: pointsOf(config, own).filter(({ pointer }) => of === 'edge' || IN_POLICY.test(pointer)),
    rules: ruleNotes(routes, config),
  };
}

/** Compiling shows the recorder every expression, including those that no case reaches. */
function compileAll(edge: EdgeFixture, parts: readonly EdgeConfig[]): void {
  edge.fresh();
  if (parts.length > 0) edge.extended(parts);
}

/**
 * A second recorder of the same edge that starts with the state of the first: for trial runs that are not cases
 * yet.
 */
export function triedEdge(covered: CoveredEdge): CoveredEdge {
  const own = recorder();
  const watched = covered.edge.unwatched().watched(own);
  compileAll(watched, covered.parts);
  own.preload(covered.recorder.recording());
  return { ...covered, edge: watched, recorder: own };
}

/** The coverage so far, by this recording and others of the same edge. */
export function coverageOf(covered: CoveredEdge, others: readonly Recording[] = []): Coverage {
  const recording = others.reduce((sum, other) => mergedRecordings(sum, other), covered.recorder.recording());
  const points = measure(covered.points, settingOf(covered, recording));
  return { points, tallies: tallies(points), requests: recording.requests };
}

/** Whether a case could cover a point that none covers yet. */
export function hasOpen(covered: CoveredEdge): boolean {
  return covered.points.some(isOpenIn(settingOf(covered, covered.recorder.recording())));
}

/** The points that a case could cover, and none covers yet. */
export function openOf(covered: CoveredEdge): CoveragePoint[] {
  return covered.points.filter(isOpenIn(settingOf(covered, covered.recorder.recording())));
}

function settingOf({ routes, rules, recorder: own }: CoveredEdge, recording: Recording): WhySetting {
  return whySetting(recording, routes, rules, own.expressions);
}

/** The ids of the points that are covered so far. */
export function coveredIds({ points, recorder: own }: CoveredEdge): ReadonlySet<string> {
  const hits = hitCounter(own.recording());
  return new Set(points.flatMap((point) => (hits(point) > 0 ? [point.id] : [])));
}

const IN_POLICY = /\/traffic_policy(?:\/|$)/;

function ruleNotes(routes: readonly PlacedRoute[], config: EdgeConfig): RuleNote[] {
  return routes.flatMap((placed) => {
    const policy = policyOf(placed, config);
    if (policy === null) return [];
    return rulesOf(policy, placed.kind).map((rule) => ({
      pointer: rule.pointer,
      label: labelOf(rule),
      mayEnd: rule.actions.some((action) => endingsOf(action).codes.size > 0),
    }));
  });
}
