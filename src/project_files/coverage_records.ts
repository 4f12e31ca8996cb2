import { type CoveredEdge, coverageOf, coveredEdge, withParts } from '../coverage/coverage.ts';
import { pointLocator } from '../coverage/places.ts';
import type { CoverageReport } from '../coverage/report.ts';
import { type Thresholds, missedThresholds } from '../coverage/thresholds.ts';
import { boundParts, statedAgents } from '../simulator/search/bound_parts.ts';
import { withProofs } from '../simulator/search/exact.ts';
import type { LoadedScenario } from './load_scenario.ts';
import type { TestRun } from './run_scenarios.ts';

/** An edge with recorded coverage, and the scenarios that test it. */
export interface RecordedEdge {
  readonly covered: CoveredEdge;
  readonly scenarios: LoadedScenario[];
  readonly first: LoadedScenario;
}

/** Keeps one recorder for each edge, even if several scenario files test it. */
export interface CoverageRecords {
  readonly on: NonNullable<TestRun['on']>;
  readonly edges: () => readonly RecordedEdge[];
}

export function coverageRecords(): CoverageRecords {
  const edges = new Map<string, RecordedEdge>();
  return {
    on: (loaded, edge) => {
      let recorded = edges.get(loaded.edgeName);
      if (recorded === undefined) {
        recorded = { covered: coveredEdge(edge, kindOf(loaded)), scenarios: [], first: loaded };
        edges.set(loaded.edgeName, recorded);
      }
      recorded.scenarios.push(loaded);
      return recorded.covered.edge;
    },
    edges: () => Array.from(edges.values(), edgeWithProofs),
  };
}

/** All cases have run: what was compiled for them is not needed for the proofs and the search. */
function edgeWithProofs(recorded: RecordedEdge): RecordedEdge {
  const covered = withAgents(recorded);
  covered.edge.release();
  return { ...recorded, covered: withProofs(covered) };
}

/** With the endpoints that the agents of its scenarios bind. */
function withAgents({ covered, scenarios }: RecordedEdge): CoveredEdge {
  const stated = statedAgents(scenarios.flatMap(({ checked }) => checked.scenario ?? []));
  const parts = boundParts(covered.edge.config, stated);
  return parts.length === 0 ? covered : withParts(covered, parts);
}

function kindOf({ checked }: LoadedScenario): 'edge' | 'policy' {
  return checked.scenario?.shell.edge === undefined ? 'policy' : 'edge';
}

/** The coverage of an edge as data for reports. */
export function reportOf(
  { covered, first, scenarios }: RecordedEdge,
  asked: Thresholds,
  offered: CoverageReport['offered'],
): CoverageReport {
  const { source, edgeName } = first;
  const coverage = coverageOf(covered);
  const own = scenarios.map(({ checked }) => checked.scenario?.shell.coverage ?? {});
  const wanted: Thresholds = Object.assign({}, ...own, asked);
  return {
    name: edgeName,
    text: source === null || source.of === 'scenario' ? null : source.source.text,
    coverage,
    locate: source === null ? () => null : pointLocator(covered.edge.config, source),
    offered,
    missed: missedThresholds(coverage, wanted),
  };
}
