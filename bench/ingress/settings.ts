import { parseArgs } from 'node:util';
import { CONTESTANTS } from './contestants.ts';
import { QUICK, WORKLOADS } from './workloads.ts';

const list = (names: readonly string[]): string => names.join(', ');

export const USAGE = `npm run bench -- ingress [--only ours,nginx] [--workload get_1k,all_get_1k] [--rounds 5]
  [--seconds 1] [--connections 64] [--source] [--tree <folder of the project>] [--before HEAD]
  [--idle 10000] [--write FILE] [--quick]

  --only         ${list(CONTESTANTS.map(({ name }) => name))}
  --workload     ${list(WORKLOADS.map(({ id }) => id))}
  --rounds       how often each contestant takes its turn; the order moves on by one each time
  --seconds      how long each measurement takes, without warming up
  --source       runs the sources of ours; without it they are built first, unless they are the same as last time
  --tree         another folder of the project than this one
  --before       a revision of git: ours as it was then takes part too, as \`before\`
  --write        a file that gets the tables as Markdown
  --idle         also start, and memory with so many idle connections; 10000 unless something is chosen, 0: not
  --quick        ${list(QUICK)} with ours, nginx, haproxy and splice in 3 rounds

${CONTESTANTS.filter(({ name, message }) => message !== name)
  .map(({ name, message }) => `  ${name.padEnd(14)} ${message}`)
  .join('\n')}`;

/** What is measured, and for how long. */
export interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** Null: all. */
  readonly only: ReadonlySet<string> | null;
  /** Identifiers; null: all. */
  readonly workloads: ReadonlySet<string> | null;
  /** Another folder of the project. */
  readonly tree: string | undefined;
  /** A git revision that takes part as `before`. */
  readonly before: string | undefined;
  /** A file for the tables as Markdown. */
  readonly write: string | undefined;
  readonly source: boolean;
  /** Idle connections for the memory figure; 0: start and memory are not measured. */
  readonly idle: number;
}

/** Parses the arguments; returns a text if they are wrong, or for `--help`. */
export function settingsOf(args: readonly string[]): Settings | string {
  const values = valuesOf(args);
  if (typeof values === 'string') return `${values}\n${USAGE}`;
  if (values.help === true) return USAGE;
  const quick = values.quick === true;
  const only = chosen(values.only, quick ? ['ours', 'nginx', 'haproxy', 'splice'] : null);
  const workloads = chosen(values.workload, quick ? QUICK : null);
  const all = only === null && workloads === null;
  const unknown = [
    ...unknownOf(
      only,
      CONTESTANTS.map(({ name }) => name),
    ),
    ...unknownOf(
      workloads,
      WORKLOADS.map(({ id }) => id),
    ),
  ];
  const numbers = {
    rounds: Number(values.rounds ?? (quick ? 3 : 5)),
    seconds: Number(values.seconds ?? 1),
    connections: Number(values.connections ?? 64),
    idle: Number(values.idle ?? (all ? 10_000 : 0)),
  };
  const odd = Object.entries(numbers).filter(
    ([name, value]) => !Number.isInteger(value) || value < (name === 'idle' ? 0 : 1),
  );
  if (unknown.length > 0 || odd.length > 0)
    return `not known: ${[...unknown, ...odd.map(([name]) => `--${name}`)].join(', ')}\n${USAGE}`;
  return {
    ...numbers,
    only,
    workloads,
    tree: values.tree,
    before: values.before,
    write: values.write,
    source: values.source === true,
  };
}

function valuesOf(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: text,
        workload: text,
        rounds: text,
        seconds: text,
        connections: text,
        tree: text,
        before: text,
        write: text,
        idle: text,
        source: flag,
        quick: flag,
        help: flag,
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function chosen(text: string | undefined, otherwise: readonly string[] | null): ReadonlySet<string> | null {
  if (text === undefined) return otherwise === null ? null : new Set(otherwise);
  return new Set(text.split(',').map((name) => name.trim()));
}

function unknownOf(names: ReadonlySet<string> | null, known: readonly string[]): string[] {
  return names === null ? [] : [...names].filter((name) => !known.includes(name));
}
