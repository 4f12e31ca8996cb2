import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { counted } from '../diagnostics/message_text.ts';
import { type EdgeSource, pointLocator } from '../coverage/places.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';
import { namedSecrets } from '../edge/document/named_secrets.ts';
import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import { type RuleWatch, ruleWatch, valuesText } from '../edge/explained_rules.ts';
import { type SecretProvider, keepSecrets } from '../edge/secrets.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { Watch } from '../filters/evaluators.ts';
import { compileCase } from '../simulator/compile_case.ts';
import { runCase } from '../simulator/run_case.ts';
import { type Draft, draftsOfCase } from '../simulator/search/draft.ts';
import type { SimulatedRequest } from '../simulator/simulated_request.ts';
import type { LoadedScenario } from './load_scenario.ts';
import { signerFor } from './run_scenarios.ts';
import { hintLine, unknownHostHint } from './unknown_host.ts';

/** A case with the results of its run. */
export interface ExplainedCase {
  readonly edge: EdgeFixture;
  readonly locate: Locate;
  /** How the expressions of its policies were evaluated. */
  readonly rules: RuleWatch;
  readonly simulatedRequests: readonly SimulatedRequest[];
  /** The connections that it made to TLS and TCP edges. */
  readonly connections: readonly StreamExchange[];
  /** The last request of the case; null when no edge matches it. */
  readonly draft: Draft | null;
}

interface Options {
  /** Secrets of the environment: they are never shown. */
  readonly secrets: SecretProvider;
  /** Another watch around that of the rules. */
  readonly around?: (watch: Watch) => Watch;
}

/** Runs the case of that name; null when it cannot be run, with the findings in `found`. */
export async function explainCaseOf(
  { checked, edge, source }: LoadedScenario,
  name: string,
  { secrets, around = (watch) => watch }: Options,
  found: Diagnostic[],
): Promise<ExplainedCase | null> {
  const { scenario } = checked;
  const row = scenario?.cases.find((each) => each.name === name);
  if (scenario === null || row === undefined || edge === null) return null;
  const { shell } = scenario;
  const signer = await signerFor(scenario);
  const compiled = compileCase(row, { checked, shell, edge: edge.config, signer, seed: null }, found);
  if (compiled === null) return null;
  const simulatedRequests: SimulatedRequest[] = [];
  const connections: StreamExchange[] = [];
  const kept = keepSecrets(secrets);
  const texts = Object.values(shell.secrets ?? {}).flatMap((vault) => Object.values(vault));
  for (const text of [...texts, ...namedSecrets(edge.config)]) kept.remember(text);
  const rules = ruleWatch(kept.redact);
  runCase(compiled, edge.traced({ watch: around(rules.watch), completed: () => undefined }), {
    completed: (simulated) => void simulatedRequests.push(simulated),
    connected: ({ exchange }) => void connections.push(exchange),
  });
  const draft = draftsOfCase(compiled, edge.config).at(-1) ?? null;
  return { edge, locate: locateIn(edge, source), rules, simulatedRequests, connections, draft };
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

/**
 * Maximum number of requests of a case that are printed, because a burst can have thousands of the same
 * request.
 */
const PRINTED_LIMIT = 20;

/** The requests, or the connections, of a case as text trees; `isFull` adds the values of all expressions. */
export function caseTrees(
  explained: ExplainedCase,
  { isFull, color }: { readonly isFull: boolean; readonly color: boolean },
): string {
  const all = exchangesOf(explained);
  const shown = all.slice(0, PRINTED_LIMIT);
  const trees = shown.map((each) => {
    const explanation = explanationIn(explained, each);
    const values = isFull ? valuesText(explained.rules.of(each.connection).values()) : '';
    return `${renderExplanation(explanation, { color })}\n${hintLine(unknownHostHint(explanation, 'scenario'))}${values}`;
  });
  const more = all.length - shown.length;
  return `${trees.join('\n')}${more > 0 ? `\nand ${counted(more, 'more request')}\n` : ''}`;
}

/** The place of the route that the last request, or connection, of a case took; null if none did. */
export function routeOf(explained: ExplainedCase): ReturnType<Locate> {
  const last = exchangesOf(explained).at(-1);
  if (last === undefined) return null;
  return explanationIn(explained, last).steps.find(({ phase }) => phase === 'route')?.place ?? null;
}

function exchangesOf({ simulatedRequests, connections }: ExplainedCase): (Exchange | StreamExchange)[] {
  return [...simulatedRequests.map(({ exchange }) => exchange), ...connections];
}

function explanationIn({ locate, rules }: ExplainedCase, exchange: Exchange | StreamExchange) {
  return rules.of(exchange.connection).withReasons(explanationOf(exchange, locate));
}
