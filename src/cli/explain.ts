import { type Command, InvalidArgumentError } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type Locate, explanationOf, renderExplanation } from '../edge/explain.ts';
import { ruleWatch, valuesText } from '../edge/explained_rules.ts';
import { type EdgeOfFile, edgeOf, usable } from '../edgeproof.ts';
import { type ClientFacts, type RequestLike, connectionFor, headOf } from '../engine/request_like.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import type { SimulatedAgents } from '../simulator/agents.ts';
import { SCENARIO_CODES, type ScenarioCode } from '../simulator/document/codes.ts';
import type { AgentConfig } from '../simulator/document/schema.ts';
import { geoipDatabasesOf } from './geoip_databases.ts';
import { namedSecrets } from '../edge/document/named_secrets.ts';
import { keepSecrets } from '../edge/secrets.ts';
import { assumptions } from './assumptions.ts';
import { timedWatch } from './timed_watch.ts';
import { lineAboutUnmatched } from './near_names.ts';
import { hintLine, unknownHostHint } from '../project_files/unknown_host.ts';
import { environmentSecrets } from './environment_secrets.ts';
import {
  isUrl,
  refuseExcess,
  refuseTogether,
  refuseUnnamed,
  refuseWithoutEffect,
} from './explain_arguments.ts';
import { EXIT } from './exit_codes.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { outputLook, printFindings } from './terminal.ts';
import { FileError } from '../project_files/load_config.ts';
import { loadEdgeOrPolicy } from '../project_files/policy_edge.ts';
import { addAgent, addHeader, splitHeader, readIp } from './option_values.ts';
import { textOrJson } from './reporter_option.ts';
import { namedOrUsual, usualText } from './usual_files.ts';
import { stderr, stdout } from './output.ts';

interface Options extends ServiceOptions {
  readonly edge?: string;
  readonly header: readonly string[];
  readonly ip?: string;
  readonly upstreamStatus: number;
  /** Whether that was given. */
  readonly hasStatus: boolean;
  readonly agent: readonly AgentConfig[];
  readonly json?: boolean;
  readonly event?: boolean;
  readonly verbose?: boolean;
  readonly whyNot?: string;
  readonly connect?: string;
  readonly sni?: string;
  readonly clientCert?: string;
  readonly scenario?: string;
  readonly case?: string;
}

export function register(command: Command): void {
  textOrJson(serviceNameOption(command))
    .argument('[method]', 'request method, in any letter case; GET if only a URL is given', (method) =>
      /^[a-z-]+$/i.test(method) ? method.toUpperCase() : method,
    )
    .argument('[url]', 'full URL, such as https://shop.test/admin')
    .allowExcessArguments()
    .option('-e, --edge <file>', `edge file, or a traffic policy${usualText('edge')}`)
    .option('-H, --header <header>', "request header 'name: value'; can be repeated", addHeader, [])
    .option('--ip <address>', 'client address', readIp)
    .option('--upstream-status <status>', "status of the upstream's response", readStatus, 200)
    .option(
      '--agent <labels>',
      'labels or URL of an online agent, such as app=shop or https://app.localhost; can be repeated; default: no agent is online',
      addAgent,
      [],
    )
    .option('--connect <place>', 'explain a connection to a TLS or TCP edge instead, such as 1.tcp.test:5432')
    .option('--sni <name>', 'server name (SNI) of that connection; default: its host')
    .option('--client-cert <file>', 'client certificate of that connection')
    .option('--event', 'also print the event')
    .option(
      '-v, --verbose',
      'also print the values of all parts of the expressions that were evaluated, and how long each took',
    )
    .option('--scenario <file>', 'explain a case of this scenario file instead of a request')
    .option('--case <name>', 'name of the case')
    .option(
      '--why-not <name>',
      'show which changes to the request would make this rule, module, route or code decide',
    )
    .action(async (method: string | undefined, url: string | undefined, options: Options) => {
      refuseExcess(command);
      refuseWithoutEffect(command, options);
      const hasStatus = command.getOptionValueSource('upstreamStatus') === 'cli';
      const own = { ...options, hasStatus };
      const isUrlAlone = url === undefined && isUrl(method);
      process.exitCode = await (isUrlAlone ? explain('GET', method, own) : explain(method, url, own));
    });
}

async function explain(
  method: string | undefined,
  url: string | undefined,
  options: Options,
): Promise<number> {
  try {
    refuseTogether(url, options);
    if (options.scenario !== undefined) return await explainCase(options.scenario, options);
    refuseUnnamed(method, url, options);
    const file = namedOrUsual(options.edge, 'edge');
    const checked = await loadEdgeOrPolicy(file, { serviceName: options.serviceName });
    if (hasErrors(checked.diagnostics)) {
      printFindings(checked.diagnostics);
      return EXIT.configInvalid;
    }
    const usableConfig = usable(checked);
    const { config } = usableConfig;
    let agents: SimulatedAgents | null = null;
    const kept = keepSecrets(environmentSecrets(process.env));
    for (const text of namedSecrets(config)) kept.remember(text);
    const rules = ruleWatch(kept.redact);
    const timed = timedWatch(rules.watch);
    const edge = edgeOf(usableConfig, {
      trace: 'full',
      watch: timed.watch,
      adoptHosts: checked.isPolicy ? 'any' : 'none',
      tunnels: (backend, labels) => agents?.tunnelsOf(backend, labels) ?? [],
      geoipDatabases: await geoipDatabasesOf(config, file),
      secrets: kept,
    });
    agents = await agentsOf(options.agent, edge);
    const { connect } = options;
    if (connect !== undefined || method === undefined || url === undefined) {
      const { explainConnection } = await import('./explain_connection.ts');
      const described = { ...options, connect: connect ?? '', agents, rules };
      stdout.write(`${explainConnection(edge, checked.locate, described)}\n`);
      return EXIT.ok;
    }
    const headers = options.header.map((line) => splitHeader(line));
    const facts = options.ip === undefined ? {} : { clientIp: options.ip };
    const upstream = { head: { status: options.upstreamStatus, headers: [] }, reused: false };
    if (options.whyNot !== undefined) {
      const answer = await whyNotRequest({ method, url, headers }, facts, config, checked.locate, options);
      stdout.write(options.json === true ? `${JSON.stringify(answer.data, null, 2)}\n` : answer.text);
      return EXIT.ok;
    }
    const { exchange, event } = edge.decide({ method, url, headers }, facts, upstream);
    const reasons = rules.of(exchange.connection);
    const explanation = reasons.withReasons(explanationOf(exchange, checked.locate));
    const hint = unknownHostHint(explanation, 'option');
    if (options.json === true) {
      const told = hint === null ? explanation : { ...explanation, hint };
      const shown = options.event === true ? { ...told, event } : told;
      stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      return EXIT.ok;
    }
    const isFull = options.verbose === true;
    const values = isFull ? `${valuesText(reasons.values())}${timed.text()}` : '';
    const unmatched = lineAboutUnmatched(explanation.decidedBy.code, exchange.head.host, config);
    const assumed = assumptions(exchange, options, config, agents, isFull);
    const tree = renderExplanation(explanation, outputLook());
    stdout.write(`${tree}\n${unmatched}${hintLine(hint)}${values}${assumed}`);
    if (options.event === true) stdout.write(`${JSON.stringify(event, null, 2)}\n`);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof TypeError)) throw error;
    stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
}

/** Agents that are online at an edge, as the command line has them; null for none. */
async function agentsOf(given: readonly AgentConfig[], edge: EdgeOfFile): Promise<SimulatedAgents | null> {
  if (given.length === 0) return null;
  const { SimulatedAgents: Simulated } = await import('../simulator/agents.ts');
  const { NO_AGENTS, compileAgents } = await import('../simulator/document/agents.ts');
  const { changes } = compileAgents(namedAgents(given), '', NO_AGENTS, edge.config, refuse);
  const extend = (parts: readonly EdgeConfig[]): void => edge.extend({ added: parts });
  const agents = new Simulated(seededChance(1), { config: edge.config, extend });
  agents.change(changes);
  return agents;
}

function refuse(code: ScenarioCode, _pointer: string, message: string): void {
  // Labels that no backend selects do no harm.
  if (SCENARIO_CODES[code].severity !== 'warning') throw new FileError(message);
}

function namedAgents(given: readonly AgentConfig[]): Record<string, AgentConfig> {
  return Object.fromEntries(given.map((config, at) => [agentName(at), config]));
}

function agentName(index: number): string {
  return `agent-${index + 1}`;
}

/** Loaded on demand: the search pulls in many modules. */
async function whyNotRequest(
  request: RequestLike,
  facts: ClientFacts,
  config: EdgeConfig,
  locate: Locate,
  { whyNot, upstreamStatus, agent }: Options,
) {
  const { answerWhyNot, searchedEdge } = await import('./why_not.ts');
  const { draftOf } = await import('../simulator/search/draft.ts');
  const { dialledBackends } = await import('../simulator/case_setting.ts');
  const head = headOf(request);
  const connection = connectionFor(head, facts);
  const names = dialledBackends(config);
  const upstreams =
    upstreamStatus === 200 ? {} : Object.fromEntries(names.map((name) => [name, upstreamStatus]));
  const prepared = { head, connection, body: new Uint8Array(0), leaveAfterMs: -1 };
  const agents = namedAgents(agent);
  const draft = draftOf(prepared, { upstreams, agents }, config);
  if (draft === null) throw new FileError('no edge matches this request: it is refused before any rule');
  return answerWhyNot(whyNot!, draft, searchedEdge(config, locate), locate);
}

async function explainCase(path: string, options: Options): Promise<number> {
  const { explainedCase } = await import('./explain_case.ts');
  const { caseTrees, explanationsOf } = await import('../project_files/explained_case.ts');
  const explained = await explainedCase(path, options.case, options);
  if (explained === null) return EXIT.configInvalid;
  const { draft, edge, locate } = explained;
  if (options.whyNot !== undefined) {
    if (draft === null) throw new FileError('no edge matches this request: it is refused before any rule');
    const { answerWhyNot } = await import('./why_not.ts');
    const { text, data } = await answerWhyNot(options.whyNot, draft, edge, locate);
    stdout.write(options.json === true ? `${JSON.stringify(data, null, 2)}\n` : text);
  } else if (options.json === true) {
    const all = explanationsOf(explained);
    stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  } else {
    const isFull = options.verbose === true;
    stdout.write(`${caseTrees(explained, { isFull, ...outputLook() })}${isFull ? explained.times() : ''}`);
  }
  return EXIT.ok;
}

function readStatus(text: string): number {
  if (!/^[2-5]\d\d$/.test(text)) throw new InvalidArgumentError('expected a status from 200 to 599.');
  return Number(text);
}
