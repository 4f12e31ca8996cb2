import { counted, didYouMean, listed, quoted } from '../../diagnostics/message_text.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Report } from '../../diagnostics/report.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { configWithFacts } from '../../coverage/edge_fixture.ts';
import type { Identity } from '../../dev_idp/identities.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { type Member, type NodesChange, type NodesSetting, nodesSetting } from '../nodes/setting.ts';
import type { ScenarioCode } from './codes.ts';
import { durationMs } from './durations.ts';
import type { NodesChangeConfig, NodesConfig } from './schema.ts';

/** The nodes of a file, with those of the command line, which win; null for a world with one node. */
export function nodesOf(
  config: NodesConfig | undefined,
  given: Partial<NodesSetting> = {},
): NodesSetting | null {
  const count = given.count ?? config?.count;
  if (count === undefined) return null;
  const { limits, sessions, when_unavailable: whenUnavailable, spread, delay } = config ?? {};
  return nodesSetting({
    count,
    ...(limits && { limits }),
    ...(sessions && { sessions }),
    ...(whenUnavailable && { whenUnavailable }),
    ...(spread && { spread }),
    ...(delay !== undefined && { delayMs: durationMs(delay) }),
    ...given,
  });
}

/** What changes of nodes refer to. */
export interface NodesContext {
  readonly nodes: NodesSetting | null;
  readonly identities: readonly Identity[];
  /** Configurations by the path that the file gives; those that cannot be used are reported elsewhere. */
  readonly configured: ReadonlyMap<string, EdgeConfig>;
  /** Facts about addresses, which configurations get besides their own. */
  readonly facts: readonly unknown[];
  readonly report: Report<ScenarioCode>;
}

const KEYS = ['cut', 'join', 'configure', 'revoke'] as const;

/** Compiles what happens to nodes at one time, in the order cut, join, configure, revoke. */
export function compileNodesChange(
  config: NodesChangeConfig,
  pointer: string,
  context: NodesContext,
): readonly NodesChange[] {
  const { nodes, report } = context;
  const used = KEYS.filter((key) => config[key] !== undefined);
  if (used.length === 0) return [];
  if (nodes === null) {
    const message = `\`${used[0]}\` needs several nodes, and the file has none`;
    const hint = 'add `nodes: { count: 2 }` at the top of the file, or give --nodes';
    report('scenario.bad_nodes', `${pointer}/${used[0]}`, message, { hint });
    return [];
  }
  const isNode = (number: number, at: string): boolean => {
    if (number <= nodes.count) return true;
    report('scenario.bad_nodes', at, noNode(number, nodes.count));
    return false;
  };
  const changes: NodesChange[] = [];
  if (config.cut !== undefined) changes.push(...cutOf(config.cut, `${pointer}/cut`, nodes, report));
  if (config.join !== undefined) changes.push({ does: 'join' });
  const { configure, revoke } = config;
  if (configure !== undefined && isNode(configure.on ?? 1, `${pointer}/configure/on`)) {
    const made = context.configured.get(configure.edge);
    if (made !== undefined)
      changes.push({
        does: 'configure',
        config: configWithFacts(made, context.facts),
        on: configure.on ?? 1,
        name: configure.edge,
      });
  }
  if (revoke !== undefined && isNode(revoke.on ?? 1, `${pointer}/revoke/on`)) {
    const identity = identityOf(revoke.identity, `${pointer}/revoke/identity`, context);
    if (identity !== null) changes.push({ does: 'revoke', identity, on: revoke.on ?? 1 });
  }
  return changes;
}

/** The sentence about a node that does not exist. */
export function noNode(number: number, count: number): string {
  return `there is no node ${number}: ${count === 1 ? 'the edge runs on one node' : `the nodes are 1 to ${count}`}`;
}

function cutOf(
  given: NonNullable<NodesChangeConfig['cut']>,
  pointer: string,
  { count }: NodesSetting,
  report: Report<ScenarioCode>,
): readonly NodesChange[] {
  const isOneGroup = !given.some(Array.isArray);
  const groups = isOneGroup ? [given as Member[]] : given.map((each): Member[] => [each].flat() as Member[]);
  const problem = cutProblem(groups, count);
  if (problem === null) return [{ does: 'cut', groups }];
  const inside = isOneGroup || !Array.isArray(given[problem.group]) ? '' : `/${problem.member}`;
  const at = isOneGroup
    ? pointerTo(pointer, problem.member)
    : `${pointerTo(pointer, problem.group)}${inside}`;
  report('scenario.bad_nodes', problem.group < 0 ? pointer : at, problem.message, { hint: problem.hint });
  return [];
}

interface CutProblem {
  /** Negative for the whole cut. */
  readonly group: number;
  readonly member: number;
  readonly message: string;
  readonly hint?: string;
}

/** What is wrong with groups of a cut; null if they can be cut. */
export function cutProblem(groups: readonly (readonly Member[])[], count: number): CutProblem | null {
  const seen = new Set<Member>();
  for (const [group, members] of groups.entries()) {
    for (const [member, each] of members.entries()) {
      const name = typeof each === 'number' ? `node ${each}` : `\`${each}\``;
      if (typeof each === 'number' && each > count) return { group, member, message: noNode(each, count) };
      if (seen.has(each)) return { group, member, message: `${name} is in the cut twice` };
      seen.add(each);
    }
  }
  const named = [...seen].filter((each) => typeof each === 'number').length;
  if (named < count || (seen.has('state') && seen.has('store'))) return null;
  const missing = seen.has('state') ? 'store' : 'state';
  return {
    group: -1,
    member: 0,
    message: `all ${counted(count, 'node')} are in groups, and \`${missing}\` is in none, so that no node reaches it`,
    hint: `name \`${missing}\` in the group that keeps it, or cut only \`${missing}\``,
  };
}

function identityOf(name: string, pointer: string, { identities, report }: NodesContext): Identity | null {
  const found = identities.find(({ key }) => key === name);
  if (found !== undefined) return found;
  const known = identities.map(({ key }) => key);
  const hint = didYouMean(suggest(name, known)) ?? 'add it to `identities` at the top of the file';
  const notes = [`identities of this file: ${listed(known)}`];
  report('scenario.unknown_identity', pointer, `unknown identity ${quoted(name)}`, { hint, notes });
  return null;
}
