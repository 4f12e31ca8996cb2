import { meantWord } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { didYouMean, listed, quoted } from '../../diagnostics/message_text.ts';
import type { Report } from '../../diagnostics/report.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { extended } from '../../edge/extension.ts';
import { carries } from '../../edge/tunnels.ts';
import { isRefusal } from '../../tunnel/binding/members.ts';
import type { AgentChange } from '../agents.ts';
import { SimulatedEndpoints, endpointName } from '../simulated_endpoints.ts';
import { bindOf, endpointOptionsOf, policyText, reportRefusal } from './agent_endpoints.ts';
import { compileScript } from './answers.ts';
import type { ExpectationContext } from '../expect/expectation_context.ts';
import type { ScenarioCode } from './codes.ts';
import type { AgentConfig } from './schema.ts';

/** The agents so far, by name, each with all members that were given. */
export type KnownAgents = ReadonlyMap<string, AgentConfig>;

export const NO_AGENTS: KnownAgents = new Map();

/** Agents after what a part of a file says about them. */
export interface CompiledAgents {
  readonly changes: readonly AgentChange[];
  readonly known: KnownAgents;
}

/**
 * Compiles agents, or changes of known ones. Problems are reported, binds that the edge refuses among them; labels that
 * no backend selects are a warning.
 */
export function compileAgents(
  given: Readonly<Record<string, AgentConfig>> | undefined,
  pointer: string,
  before: KnownAgents,
  edge: EdgeConfig,
  report: Report<ScenarioCode>,
): CompiledAgents {
  if (given === undefined) return { changes: [], known: before };
  const known = new Map(before);
  const changes: AgentChange[] = [];
  for (const [name, config] of Object.entries(given)) {
    const at = pointerTo(pointer, name);
    const whole = { ...known.get(name), ...config };
    const reaches = reachedBy(name, whole, config, at, [[...before.keys()], edge, report]);
    if (reaches === null) continue;
    const { upstream } = config;
    const script = upstream === undefined ? null : compileScript(upstream, `${at}/upstream`, report);
    known.set(name, whole);
    changes.push({ name, ...reaches, isOnline: whole.online !== false, script });
  }
  reportRefused(changes, { before, known, pointer, edge, report });
  return { changes, known };
}

/** What selects the tunnel of an agent: its labels, or the endpoint that it binds. Null if that is not valid. */
function reachedBy(
  name: string,
  { labels, url, ...whole }: AgentConfig,
  config: AgentConfig,
  at: string,
  [known, edge, report]: readonly [known: readonly string[], edge: EdgeConfig, report: Report<ScenarioCode>],
): Pick<AgentChange, 'labels' | 'bind'> | null {
  const [option] = endpointOptionsOf(whole);
  if (url !== undefined) {
    if (labels !== undefined) {
      const message = `agent ${quoted(name)} has labels and a URL; its tunnel has one of them`;
      report('scenario.bad_agent', config.url === undefined ? `${at}/labels` : `${at}/url`, message, {
        at: 'key',
      });
      return null;
    }
    const bind = bindOf({ ...whole, url }, at, report);
    return bind === null ? null : { labels: null, bind };
  }
  if (labels === undefined) {
    reportUnreachable(name, at, known, report);
    return null;
  }
  if (option !== undefined) {
    const message = `agent ${quoted(name)} has no URL, so it has no option ${quoted(option)}`;
    report('scenario.bad_agent', pointerTo(at, option), message, { at: 'key' });
    return null;
  }
  if (config.labels !== undefined) checkLabels(name, labels, `${at}/labels`, edge, report);
  return { labels, bind: null };
}

/** The edge with the endpoints of all agents that are known, online or not. */
export function edgeWithAgents(edge: EdgeConfig, known: KnownAgents): EdgeConfig {
  const endpoints = new SimulatedEndpoints(edge);
  for (const [name, config] of known) {
    const bind = config.url === undefined ? null : bindOf(config, '', () => undefined);
    if (bind !== null) endpoints.bind(name, bind);
  }
  return extended(edge, endpoints.parts());
}

/** Names that expectations may use, with those that agents add: their own, their endpoints, their policies. */
export function namesWithAgents<Names extends Pick<ExpectationContext, 'backends' | 'policies'>>(
  names: Names,
  agents: readonly (readonly [name: string, config: AgentConfig])[],
): Names & Pick<ExpectationContext, 'agents'> {
  const binding = agents.filter(([, { url }]) => url !== undefined);
  const policies = agents.flatMap(([, { traffic_policy: policy }]) => policyText(policy) ?? []);
  return {
    ...names,
    agents: agents.map(([name]) => name),
    backends: [...names.backends, ...binding.map(([name]) => endpointName(name))],
    policies: [...names.policies, ...policies],
  };
}

/** Reports what the edge refuses: the same table decides as in the run. */
function reportRefused(
  changes: readonly AgentChange[],
  {
    before,
    known,
    pointer,
    edge,
    report,
  }: {
    readonly before: KnownAgents;
    readonly known: KnownAgents;
    readonly pointer: string;
    readonly edge: EdgeConfig;
    readonly report: Report<ScenarioCode>;
  },
): void {
  if (!changes.some(({ bind }) => bind !== null)) return;
  const changed = new Set(changes.map(({ name }) => name));
  const others = Array.from(before).flatMap(([name, config]): AgentChange[] => {
    if (changed.has(name) || config.url === undefined) return [];
    const bind = bindOf(config, '', () => undefined);
    return [{ name, labels: null, bind, isOnline: config.online !== false, script: null }];
  });
  const holders = new Map<string, string>();
  const endpoints = new SimulatedEndpoints(edge);
  for (const { name, bind, isOnline } of [...others, ...changes]) {
    if (bind === null) continue;
    // What an agent binds that is offline takes no place, but has to be valid.
    const bound = (isOnline ? endpoints : new SimulatedEndpoints(edge)).bind(name, bind);
    const config = known.get(name)!;
    if (isRefusal(bound) && changed.has(name)) {
      const holder = holders.get(bind.host);
      const isPooled = bind.pooling && known.get(holder ?? '')?.pooling_enabled === true;
      const notes = [
        ...(holder === undefined ? [] : [`agent ${quoted(holder)} has it`]),
        ...(holder === undefined || isPooled
          ? []
          : ['agents share a URL if all have `pooling_enabled: true`']),
      ];
      const what = `agent ${quoted(name)} cannot bind ${config.url}: `;
      reportRefusal(bound, config, pointerTo(pointer, name), report, what, notes);
    } else if (isOnline) holders.set(bind.host, name);
  }
}

function reportUnreachable(
  name: string,
  pointer: string,
  known: readonly string[],
  report: Report<ScenarioCode>,
): void {
  const meant = suggest(name, known);
  if (meant === undefined) {
    const notes = ['labels: { app: shop }', 'url: https://shop.test'];
    const message = `agent ${quoted(name)} has neither labels nor a URL`;
    return report('scenario.bad_agent', pointer, message, { at: 'key', notes });
  }
  const message = `there is no agent ${quoted(name)}, and it has neither labels nor a URL`;
  report('scenario.unknown_agent', pointer, message, { at: 'key', ...meantWord(meant) });
}

type Labels = Readonly<Record<string, string>>;

function checkLabels(
  name: string,
  labels: Labels,
  pointer: string,
  edge: EdgeConfig,
  report: Report<ScenarioCode>,
): void {
  const groups = tunnelGroups(edge);
  if (groups.some(([, wanted]) => carries(labels, wanted))) return;
  const asked = groups.flatMap(([, wanted]) => pairsOf(wanted));
  const unknown = pairsOf(labels).find((pair) => !asked.includes(pair));
  report('scenario.unselected_agent', pointer, `no backend selects agent ${quoted(name)} by its labels`, {
    hint: didYouMean(unknown === undefined ? undefined : suggest(unknown, asked)),
    notes:
      groups.length === 0
        ? ['the edge has no backend with `tunnel_group`']
        : groups.map(([backend, wanted]) => `${backend} asks for ${labelsText(wanted)}`),
  });
}

/** The backends of agents, with the labels that they ask for. Those of endpoints have none, and are left out. */
export function tunnelGroups({ backends }: EdgeConfig): (readonly [backend: string, labels: Labels])[] {
  return Object.entries(backends).flatMap(([name, { tunnel_group: group }]) =>
    group === undefined || Object.keys(group.labels).length === 0 ? [] : [[name, group.labels] as const],
  );
}

function pairsOf(labels: Labels): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}

/** `app=shop, region=eu`. */
function labelsText(labels: Labels): string {
  return pairsOf(labels).join(', ');
}

/** Checks the name of an agent in an expectation. */
export function checkAgentName(
  name: unknown,
  pointer: string,
  agents: readonly string[],
  report: Report<ScenarioCode>,
  at: 'key' | 'value' = 'value',
): void {
  if (typeof name !== 'string' || name === 'none' || agents.includes(name)) return;
  report('scenario.unknown_agent', pointer, `there is no agent ${quoted(name)}`, {
    at,
    ...meantWord(suggest(name, agents)),
    notes: [`agents: ${listed(agents)}`],
  });
}
