/** One table of the report: our figure and those of the peers, from the same run. */
export interface BenchSection {
  readonly title: string;
  readonly rows: readonly BenchRow[];
  readonly notes: readonly string[];
}

export interface BenchRow {
  readonly name: string;
  readonly ours: number;
  readonly unit: string;
  readonly peers: Readonly<Record<string, number>>;
  /** For each peer the least and the largest ratio to ours of all rounds: with seven, the 98 % interval of its median. */
  readonly ratios?: Readonly<Record<string, readonly [low: number, high: number]>>;
}

/** A row without peers. */
export const figure = (name: string, ours: number, unit: string): BenchRow => ({
  name,
  ours,
  unit,
  peers: {},
});

/** The time that a share of times does not exceed. */
export const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)]!;

/** A contestant does the work once for the given iteration; its result keeps the work from being optimised away. */
export type Contestant = (turn: number) => unknown;

const SLICE_MS = 20;
const ROUNDS = 7;

/** Keeps results alive. */
let sink: unknown;

/** Processor time instead of elapsed time: other processes of the machine do not count. */
function timeMs(contestant: Contestant, turns: number): number {
  const started = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) sink = contestant(turn);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

/** Long code paths are compiled late: before that, the interpreter would be measured. */
const WARM_UP_MS = 600;

/** Iterations that take about one slice, after warming up. */
function calibrate(contestant: Contestant): number {
  let turns = 1;
  for (let spent = 0; spent < WARM_UP_MS; turns = Math.min(turns * 2, 2 ** 16))
    spent += timeMs(contestant, turns);
  turns = 1;
  while (timeMs(contestant, turns) < SLICE_MS / 2 && turns < 2 ** 28) turns *= 2;
  return Math.max(1, Math.round((turns * SLICE_MS) / Math.max(0.01, timeMs(contestant, turns))));
}

/**
 * Median nanoseconds per iteration of each contestant; all alternate in every round, so that noise affects them
 * equally.
 */
export function compare(contestants: Readonly<Record<string, Contestant>>): Record<string, number> {
  const entries = Object.entries(contestants).map(([name, contestant]) => ({
    name,
    contestant,
    turns: calibrate(contestant),
    times: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { contestant, turns, times } of entries) times.push((timeMs(contestant, turns) * 1e6) / turns);
  }
  if (sink === compare) throw new Error('unreachable');
  const medians = Object.fromEntries(
    entries.map(({ name, times }) => [name, times.toSorted((a, b) => a - b)[ROUNDS >> 1]!] as const),
  );
  roundsOf.set(medians, Object.fromEntries(entries.map(({ name, times }) => [name, times])));
  return medians;
}

/** The times of each round of a result of `compare`. */
const roundsOf = new WeakMap<object, Readonly<Record<string, readonly number[]>>>();

/** Some contestants of a comparison under other names. */
export function picked(
  measured: Readonly<Record<string, number>>,
  names: Readonly<Record<string, string>>,
): Record<string, number> {
  const rounds = roundsOf.get(measured);
  const of = <T>(from: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(names).map(([name, original]) => [name, from[original]!]));
  const medians = of(measured);
  if (rounds !== undefined) roundsOf.set(medians, of(rounds));
  return medians;
}

/** A row from the result of `compare`: the contestant named `ours`, and the others. */
export function row(name: string, measured: Readonly<Record<string, number>>, unit = 'ns'): BenchRow {
  const { ours = Number.NaN, ...peers } = measured;
  const rounds = roundsOf.get(measured);
  const own = rounds?.['ours'];
  if (rounds === undefined || own === undefined) return { name, ours, unit, peers };
  const ratios = Object.fromEntries(
    Object.keys(peers).map((peer) => {
      // Ratios within one round: disturbances affect both.
      const each = rounds[peer]!.map((time, round) => time / own[round]!);
      return [peer, [Math.min(...each), Math.max(...each)] as const];
    }),
  );
  return { name, ours, unit, peers, ratios };
}

/** A section as a Markdown table; each peer also as a multiple of ours, with its interval. */
export function renderMarkdown({ title, rows, notes }: BenchSection): string {
  const lines = rows.map(({ name, ours, unit, peers, ratios }) => {
    const others = Object.entries(peers).map(([peer, value]) => {
      const interval = ratios?.[peer];
      const range = interval === undefined ? '' : ` [${brief(interval[0])}, ${brief(interval[1])}]`;
      return `${peer} ${brief(value)} (${brief(value / ours)} ×${range})`;
    });
    return `| ${name} | ${brief(ours)} ${unit} | ${others.join('; ')} |`;
  });
  const table = rows.length === 0 ? [] : ['| | ours | peers |', '|---|--:|---|', ...lines, ''];
  return [`## ${title}`, '', ...table, ...notes.map((note) => `- ${note}`), ''].join('\n');
}

/** A section as text; each peer also as a multiple of ours. */
export function render({ title, rows, notes }: BenchSection): string {
  const lines = rows.map(({ name, ours, unit, peers }) => {
    const others = Object.entries(peers).map(
      ([peer, value]) => `${peer} ${brief(value)} (${brief(value / ours)} ×)`,
    );
    return `  ${name.padEnd(36)} ${`${brief(ours)} ${unit}`.padStart(12)}   ${others.join(', ')}`;
  });
  return [title, ...lines, ...notes.map((note) => `  ${note}`), ''].join('\n');
}

function brief(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
