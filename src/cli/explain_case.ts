import { printFindings } from './terminal.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import type { StreamExchange } from '../engine/stream.ts';
import { compileCase } from '../simulator/compile_case.ts';
import { type EdgeSource, pointLocator } from '../coverage/places.ts';
import type { SimulatedRequest } from '../simulator/simulated_request.ts';
import { runCase } from '../simulator/run_case.ts';
import { type Draft, draftsOfCase } from '../simulator/search/draft.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import { FileError } from '../project_files/load_config.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';
import { signerFor } from '../project_files/run_scenarios.ts';
import { counted } from '../diagnostics/message_text.ts';

/** A case with the results of its run. */
export interface ExplainedCase {
  readonly edge: EdgeFixture;
  readonly locate: Locate;
  readonly simulatedRequests: readonly SimulatedRequest[];
  /** The connections that it made to TLS and TCP edges. */
  readonly connections: readonly StreamExchange[];
  /** The last request of the case; null when no edge matches it. */
  readonly draft: Draft | null;
}

/**
 * Maximum number of requests of a case that are printed, because a burst can have thousands of the same
 * request.
 */
const PRINTED_LIMIT = 20;

/** Runs the case of that name; null when the file has errors, which are printed. */
export async function explainedCase(path: string, name: string): Promise<ExplainedCase | null> {
  const { checked, edge, findings, source } = await scenarioLoader()(path);
  const all: Diagnostic[] = [...checked.diagnostics, ...findings];
  const { scenario } = checked;
  const row = scenario?.cases.find((each) => each.name === name);
  if (scenario !== null && row === undefined) throw new FileError(`${path} has no case '${name}'`);
  if (scenario !== null && row !== undefined && edge !== null) {
    const { shell } = scenario;
    const signer = await signerFor(scenario);
    const setting = { checked, shell, edge: edge.config, signer, seed: null };
    const compiled = compileCase(row, setting, all);
    if (compiled !== null) {
      const simulatedRequests: SimulatedRequest[] = [];
      const connections: StreamExchange[] = [];
      runCase(compiled, edge.traced(), {
        completed: (simulated) => void simulatedRequests.push(simulated),
        connected: ({ exchange }) => void connections.push(exchange),
      });
      const draft = draftsOfCase(compiled, edge.config).at(-1) ?? null;
      return { edge, locate: locateIn(edge, source), simulatedRequests, connections, draft };
    }
  }
  printFindings(all);
  if (!hasErrors(all)) throw new FileError(`the case '${name}' of ${path} cannot be run`);
  return null;
}

/** Finds places in the edge file, or in the file that contains the policy or the edge. */
function locateIn({ config, locate }: EdgeFixture, source: EdgeSource | null): Locate {
  if (source === null || source.of === 'edge') return locate;
  const locatePoint = pointLocator(config, source);
  return (pointer) => locatePoint({ pointer, span: null });
}

/** The explanations of the requests, or the connections, of a case as data. */
export function explanationsOf({ simulatedRequests, connections, locate }: ExplainedCase): readonly object[] {
  return [...simulatedRequests.map(({ exchange }) => exchange), ...connections].map((each) =>
    explanationOf(each, locate),
  );
}

/** The requests of a case as text trees. */
export function caseTrees({ simulatedRequests, connections, locate }: ExplainedCase): string {
  if (connections.length > 0) {
    const texts = connections.map((each) => renderExplanation(explanationOf(each, locate)));
    return `${texts.join('\n\n')}\n`;
  }
  const trees = simulatedRequests
    .slice(0, PRINTED_LIMIT)
    .map(({ exchange }) => `${renderExplanation(explanationOf(exchange, locate))}\n`);
  const more = simulatedRequests.length - trees.length;
  return `${trees.join('\n')}${more > 0 ? `\nand ${counted(more, 'more request')}\n` : ''}`;
}
