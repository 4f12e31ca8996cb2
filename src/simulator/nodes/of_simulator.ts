import { type Identity, readIdentities } from '../../dev_idp/identities.ts';
import { durationMs } from '../document/durations.ts';
import { cutProblem, noNode } from '../document/nodes.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { NodesReport } from './report.ts';
import type { Cluster } from './cluster.ts';
import {
  DEFAULT_DELAY_MS,
  LIMITS_MODES,
  MAX_NODES,
  type Member,
  type NodesSetting,
  SESSIONS_MODES,
  SPREADS,
  UNAVAILABLE_MODES,
  nodesSetting,
} from './setting.ts';

/** How several nodes run the edge. */
export interface SimulatorNodes extends Omit<Partial<NodesSetting>, 'delayMs'> {
  /** 1 to 64. */
  readonly count: number;
  /** Time until other nodes know of a change: a duration such as `100ms`, or milliseconds; default 100 ms. */
  readonly delay?: string | number;
}

/** The part of a simulator that is about its nodes; all of it throws in a simulator with one node. */
export interface SimulatorOfNodes {
  /** Cuts nodes, `state` or `store` off from all others, as one group or as several; replaces former cuts. */
  readonly cut: (groups: readonly (Member | readonly Member[])[]) => void;
  /** Joins all that was cut. */
  readonly join: () => void;
  /** Writes a new configuration at a node, default 1; others have it later. */
  readonly configure: (edge: { readonly config: EdgeConfig }, on?: number) => void;
  /** Revokes the sessions of an identity at a node, default 1. */
  readonly revoke: (identity: string, on?: number) => void;
  /** What the nodes have done so far. */
  readonly nodes: () => NodesReport;
}

type Given = number | SimulatorNodes;

/** The number of nodes that the options of a simulator say. */
export function nodeCount(given: Given | undefined): number {
  return typeof given === 'object' ? given.count : (given ?? 1);
}

/** What the options of a simulator say about nodes; throws a TypeError for one that cannot be. */
export function settingOfNodes(given: Given | undefined): { readonly nodes?: NodesSetting } {
  if (given === undefined) return {};
  const { delay, ...rest } = typeof given === 'number' ? { count: given, delay: undefined } : given;
  const setting = nodesSetting({ ...rest, delayMs: delayOf(delay ?? DEFAULT_DELAY_MS) });
  const { count, limits, sessions, whenUnavailable, spread } = setting;
  if (!Number.isInteger(count) || count < 1 || count > MAX_NODES)
    throw new TypeError(`nodes are 1 to ${MAX_NODES}, not ${count}`);
  oneOf('limits', limits, LIMITS_MODES);
  oneOf('sessions', sessions, SESSIONS_MODES);
  oneOf('whenUnavailable', whenUnavailable, UNAVAILABLE_MODES);
  oneOf('spread', spread, SPREADS);
  return { nodes: setting };
}

function oneOf(name: string, value: string, modes: object): void {
  if (!Object.hasOwn(modes, value))
    throw new TypeError(`${name} is one of ${Object.keys(modes).join(', ')}, not '${value}'`);
}

function delayOf(given: string | number): number {
  const ms = typeof given === 'number' ? given : durationMs(given);
  if (!(ms >= 0)) throw new TypeError(`'${given}' is not a duration such as 100ms`);
  return ms;
}

/** The part of a simulator that is about its nodes. */
export function nodesOfSimulator(
  nodes: Cluster | null,
  identities: Readonly<Record<string, unknown>>,
): SimulatorOfNodes {
  const cluster = (): Cluster => {
    if (nodes === null) throw new TypeError('this simulator has one node; create it with `{ nodes: 2 }`');
    return nodes;
  };
  const existing = (on: number): number => {
    const { count } = cluster().setting;
    if (!Number.isInteger(on) || on < 1 || on > count) throw new TypeError(noNode(on, count));
    return on;
  };
  return {
    cut: (given) => {
      const isOneGroup = !given.some((each) => typeof each === 'object');
      const groups = isOneGroup ? [given as readonly Member[]] : given.map((each) => [each].flat());
      const problem = cutProblem(groups, cluster().setting.count);
      if (problem !== null) throw new TypeError(problem.message);
      cluster().change({ does: 'cut', groups });
    },
    join: () => cluster().change({ does: 'join' }),
    configure: ({ config }, on = 1) => {
      cluster().change({ does: 'configure', config, on: existing(on), name: 'a configuration' });
    },
    revoke: (name, on = 1) => {
      cluster().change({ does: 'revoke', identity: identityOf(name, identities), on: existing(on) });
    },
    nodes: () => cluster().report(),
  };
}

function identityOf(name: string, identities: Readonly<Record<string, unknown>>): Identity {
  const found = readIdentities(identities).identities.find(({ key }) => key === name);
  if (found === undefined) throw new TypeError(`no identity is called '${name}'`);
  return found;
}
