import { printFindings } from './terminal.ts';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import { type RuleWatch, ruleWatch, valuesText } from '../edge/explained_rules.ts';
import { namedSecrets } from '../edge/document/named_secrets.ts';
import { keepSecrets } from '../edge/secrets.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream.ts';
import { compileCase } from '../simulator/compile_case.ts';
import { type EdgeSource, pointLocator } from '../coverage/places.ts';
import type { SimulatedRequest } from '../simulator/simulated_request.ts';
import { runCase } from '../simulator/run_case.ts';
import { type Draft, draftsOfCase } from '../simulator/search/draft.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import { environmentSecrets } from './environment_secrets.ts';
import { timedWatch } from './timed_watch.ts';
import { nearName } from './near_names.ts';
import type { ServiceOptions } from './service_name.ts';
import { hintLine, unknownHostHint } from './unknown_host.ts';
import { FileError } from '../project_files/load_config.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';
import { signerFor } from '../project_files/run_scenarios.ts';
import { counted } from '../diagnostics/message_text.ts';

/** A case with the results of its run. */
export interface ExplainedCase {
  readonly edge: EdgeFixture;
  readonly locate: Locate;
  /** How the expressions of its policies were evaluated, and how long that took. */
  readonly rules: RuleWatch;
  readonly times: () => string;
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
export async function explainedCase(
  path: string,
  name: string,
  { serviceName }: ServiceOptions,
): Promise<ExplainedCase | null> {
  const { checked, edge, findings, source } = await scenarioLoader({ serviceName })(path);
  const all: Diagnostic[] = [...checked.diagnostics, ...findings];
  const { scenario } = checked;
  const row = scenario?.cases.find((each) => each.name === name);
  if (scenario !== null && row === undefined) {
    const near = nearName(
      name,
      scenario.cases.map((each) => each.name),
    );
    throw new FileError(`${path} has no case '${name}'; ${near}`);
  }
  if (scenario !== null && row !== undefined && edge !== null) {
    const { shell } = scenario;
    const signer = await signerFor(scenario);
    const setting = { checked, shell, edge: edge.config, signer, seed: null };
    const compiled = compileCase(row, setting, all);
    if (compiled !== null) {
      const simulatedRequests: SimulatedRequest[] = [];
      const connections: StreamExchange[] = [];
      const kept = keepSecrets(environmentSecrets(process.env));
      const texts = Object.values(shell.secrets ?? {}).flatMap((vault) => Object.values(vault));
      for (const text of [...texts, ...namedSecrets(edge.config)]) kept.remember(text);
      const rules = ruleWatch(kept.redact);
      const { watch, text: times } = timedWatch(rules.watch);
      runCase(compiled, edge.traced({ watch, completed: () => undefined }), {
        completed: (simulated) => void simulatedRequests.push(simulated),
        connected: ({ exchange }) => void connections.push(exchange),
      });
      const draft = draftsOfCase(compiled, edge.config).at(-1) ?? null;
      return { edge, locate: locateIn(edge, source), rules, times, simulatedRequests, connections, draft };
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
export function explanationsOf(explained: ExplainedCase): readonly object[] {
  return exchangesOf(explained).map((each) => {
    const explanation = explanationIn(explained, each);
    const hint = unknownHostHint(explanation, 'scenario');
    return hint === null ? explanation : Object.assign({}, explanation, { hint });
  });
}

/** The requests, or the connections, of a case as text trees; `isFull` adds the values of all expressions. */
export function caseTrees(explained: ExplainedCase, isFull: boolean): string {
  const all = exchangesOf(explained);
  const shown = all.slice(0, PRINTED_LIMIT);
  const trees = shown.map((each) => {
    const explanation = explanationIn(explained, each);
    const values = isFull ? valuesText(explained.rules.of(each.connection).values()) : '';
    return `${renderExplanation(explanation)}\n${hintLine(unknownHostHint(explanation, 'scenario'))}${values}`;
  });
  const more = all.length - shown.length;
  const times = isFull ? explained.times() : '';
  return `${trees.join('\n')}${more > 0 ? `\nand ${counted(more, 'more request')}\n` : ''}${times}`;
}

function exchangesOf({ simulatedRequests, connections }: ExplainedCase): (Exchange | StreamExchange)[] {
  return [...simulatedRequests.map(({ exchange }) => exchange), ...connections];
}

function explanationIn({ locate, rules }: ExplainedCase, exchange: Exchange | StreamExchange) {
  return rules.of(exchange.connection).withReasons(explanationOf(exchange, locate));
}
