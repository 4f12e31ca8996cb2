import { type Command, InvalidArgumentError, Option } from 'commander';
import { cutProblem } from '../simulator/document/nodes.ts';
import { durationMs } from '../simulator/document/durations.ts';
import {
  LIMITS_MODES,
  MAX_NODES,
  type Member,
  type NodesSetting,
  SESSIONS_MODES,
  SPREADS,
  UNAVAILABLE_MODES,
  type NodesChange,
} from '../simulator/nodes/setting.ts';
import type { CompiledSimulation } from '../simulator/simulation.ts';
import { FileError } from '../project_files/load_config.ts';

export interface NodesOptions {
  readonly nodes?: number;
  readonly limits?: NodesSetting['limits'];
  readonly sessions?: NodesSetting['sessions'];
  readonly whenUnavailable?: NodesSetting['whenUnavailable'];
  readonly spread?: NodesSetting['spread'];
  readonly delay?: number;
  readonly partition: readonly Cut[];
}

/** A cut of the command line. */
interface Cut {
  readonly text: string;
  readonly groups: readonly (readonly Member[])[];
  readonly atMs: number;
  /** When all is joined again; null for never. */
  readonly untilMs: number | null;
}

/** The options of a simulation with several nodes. */
export function nodesOptions(command: Command): Command {
  return command
    .option('--nodes <n>', 'number of nodes; overrides the file', readNodes)
    .addOption(oneOf('--limits <mode>', 'who counts for rate limits', LIMITS_MODES))
    .addOption(oneOf('--sessions <mode>', 'who knows of logouts and revocations', SESSIONS_MODES))
    .addOption(
      oneOf('--when-unavailable <mode>', 'limits of a node without the shared state', UNAVAILABLE_MODES),
    )
    .addOption(oneOf('--spread <way>', 'which node receives a request', SPREADS))
    .option('--delay <duration>', 'time until other nodes know of a change; default: 100ms', readDelay)
    .option(
      '--partition <cut>',
      'cut nodes off for a time, such as 3,4@2m-3m; state and store can be cut, too (repeatable)',
      addCut,
      [],
    );
}

function oneOf(flags: string, says: string, modes: Readonly<Record<string, string>>): Option {
  return new Option(flags, says).choices(Object.keys(modes));
}

/** The nodes that the options say. */
export function nodesGiven(options: NodesOptions): Partial<NodesSetting> {
  const { nodes: count, limits, sessions, whenUnavailable, spread, delay: delayMs } = options;
  return {
    ...(count !== undefined && { count }),
    ...(limits && { limits }),
    ...(sessions && { sessions }),
    ...(whenUnavailable && { whenUnavailable }),
    ...(spread && { spread }),
    ...(delayMs !== undefined && { delayMs }),
  };
}

/** The cuts that the options say, for the nodes of a simulation; throws for those that do not fit. */
export function cutsGiven(
  { partition, nodes, limits, sessions, whenUnavailable, spread, delay }: NodesOptions,
  { nodes: setting, durationMs: wholeMs }: Pick<CompiledSimulation, 'nodes' | 'durationMs'>,
): readonly { readonly atMs: number; readonly atNodes: readonly NodesChange[] }[] {
  const given = { nodes, limits, sessions, whenUnavailable, spread, delay };
  const named = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
  const option = partition.length > 0 ? 'partition' : named;
  if (setting === null) {
    if (option === undefined) return [];
    const flag = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new FileError(
      `--${flag} needs several nodes; give --nodes, or \`nodes: { count: 2 }\` in the file`,
    );
  }
  return partition.flatMap(({ text, groups, atMs, untilMs }) => {
    const problem = cutProblem(groups, setting.count);
    if (problem !== null) {
      const cure = problem.hint === undefined ? '' : `; ${problem.hint}`;
      throw new FileError(`--partition ${text}: ${problem.message}${cure}`);
    }
    if (atMs >= wholeMs)
      throw new FileError(
        `--partition ${text}: the simulation has ended by then: it lasts ${wholeMs / 1_000} s`,
      );
    const cut = { atMs, atNodes: [{ does: 'cut' as const, groups }] };
    return untilMs === null ? [cut] : [cut, { atMs: untilMs, atNodes: [{ does: 'join' as const }] }];
  });
}

function readNodes(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1 || count > MAX_NODES)
    throw new InvalidArgumentError(`expected a number of nodes from 1 to ${MAX_NODES}.`);
  return count;
}

function readDelay(text: string): number {
  const ms = durationMs(text);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('write a duration as 100ms or 2s.');
  return ms;
}

const CUT = /^([^@]+)@([^-@]+)(?:-([^-@]+))?$/;
const FORM = 'write a cut as 3,4@2m-3m, or 1,2|3,4,state,store@2m without an end.';

function addCut(text: string, before: readonly Cut[]): readonly Cut[] {
  const [, members = '', at = '', until] = CUT.exec(text) ?? [];
  const groups = members.split('|').map((group) => group.split(',').map((each) => memberOf(each.trim())));
  const atMs = durationMs(at);
  const untilMs = until === undefined ? null : durationMs(until);
  if (Number.isNaN(atMs) || Number.isNaN(untilMs ?? 0)) throw new InvalidArgumentError(FORM);
  if (untilMs !== null && untilMs <= atMs) throw new InvalidArgumentError('a cut ends after its start.');
  return [...before, { text, groups, atMs, untilMs }];
}

function memberOf(text: string): Member {
  if (text === 'state' || text === 'store') return text;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`'${text}' is neither a node nor state or store; ${FORM}`);
}
