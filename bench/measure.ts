import { type Estimate, bootstrap } from '../src/benchmark/statistics.ts';

/** One table of the report: our figure and those of the peers, from the same run. */
export interface BenchSection {
  readonly title: string;
  readonly rows: readonly BenchRow[];
  readonly notes: readonly string[];
  /** The peers that are a floor: they do only what has to be done in any case. */
  readonly floors?: readonly string[];
  /** What ours does that a floor does not. */
  readonly between?: string;
}

export interface BenchRow {
  readonly name: string;
  readonly ours: number;
  readonly unit: string;
  readonly peers: Readonly<Record<string, number>>;
  /** What Node takes that does nothing of the kind, where no peer is a floor. */
  readonly floor?: Floor;
  /** For each peer the least and the largest ratio to ours of all rounds: with seven, the 98 % interval of its median. */
  readonly ratios?: Readonly<Record<string, readonly [low: number, high: number]>>;
}

export interface Floor {
  readonly name: string;
  readonly value: number;
}

/** A row without peers. */
export const figure = (name: string, ours: number, unit: string, floor?: Floor): BenchRow => ({
  name,
  ours,
  unit,
  peers: {},
  ...(floor && { floor }),
});

/** Draws the same each time, so that an interval says the same of the same blocks. */
function drawing(): () => number {
  let state = 1;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** The median over blocks with its 95 % bootstrap interval; the values of a block depend on each other, so blocks are drawn. */
export const overBlocks = (blocks: readonly number[]): Estimate => bootstrap(blocks, drawing());

export function intervalText({ value, low, high }: Estimate): string {
  return `${brief(value)} [${brief(low)}, ${brief(high)}]`;
}

/** The time that a share of times does not exceed. */
export const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)]!;

/** A contestant does the work once for the given iteration; its result keeps the work from being optimised away. */
export type Contestant = (turn: number) => unknown;

/** A size of a bench, and the smallest one, with `--quick`, which only shows that it works. */
export const sized = (usual: number, quick: number): number =>
  process.argv.includes('--quick') ? quick : usual;

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
const WARM_UP_MS = sized(600, 20);

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
  const floor = { name: 'an empty call', value: emptyCall() };
  if (rounds === undefined || own === undefined) return { name, ours, unit, peers };
  const ratios = Object.fromEntries(
    Object.keys(peers).map((peer) => {
      // Ratios within one round: disturbances affect both.
      const each = rounds[peer]!.map((time, round) => time / own[round]!);
      return [peer, [Math.min(...each), Math.max(...each)] as const];
    }),
  );
  return { name, ours, unit, peers, ratios, floor };
}

let emptyCallNs: number | null = null;

/** Nanoseconds of a turn that does nothing. */
function emptyCall(): number {
  return (emptyCallNs ??= compare({ nothing: (turn) => turn })['nothing']!);
}

/** More is better of what is counted in a time; less of everything else. */
const isMoreBetter = (unit: string): boolean => unit.endsWith('/s');

/** What a row is compared with: the floor, the best of the other peers, and the rest. */
interface Beside {
  readonly floor: Floor | null;
  readonly best: string | null;
  readonly others: readonly string[];
}

function besideOf({ peers, unit, floor }: BenchRow, { floors = [] }: BenchSection): Beside {
  const better = isMoreBetter(unit)
    ? (one: string, other: string) => peers[other]! - peers[one]!
    : (one: string, other: string) => peers[one]! - peers[other]!;
  const [lowest] = Object.keys(peers)
    .filter((name) => floors.includes(name))
    .toSorted(better);
  const [best = null, ...others] = Object.keys(peers)
    .filter((name) => name !== lowest)
    .toSorted(better);
  return {
    floor: lowest === undefined ? (floor ?? null) : { name: lowest, value: peers[lowest]! },
    best,
    others,
  };
}

/** A section as a Markdown table: each row with its floor, the best peer and the others, as multiples of ours. */
export function renderMarkdown(section: BenchSection): string {
  const { title, rows, notes, between } = section;
  const lines = rows.map((each) => {
    const { name, ours, unit, peers, ratios } = each;
    const { floor, best, others } = besideOf(each, section);
    const peerText = (peer: string): string => multiple(peer, peers[peer]!, ours, ratios?.[peer]);
    const cells = [
      name,
      floor === null ? '' : multiple(floor.name, floor.value, ours, ratios?.[floor.name]),
      best === null ? '' : peerText(best),
      `${brief(ours)} ${unit}`,
      others.map(peerText).join('; '),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['| | floor | best peer | ours | other peers |', '|---|---|---|--:|---|'];
  const table = rows.length === 0 ? [] : [...head, ...lines, ''];
  const said = between === undefined ? [] : [`- between floor and ours: ${between}`];
  return [`## ${title}`, '', ...table, ...said, ...notes.map((note) => `- ${note}`), ''].join('\n');
}

function multiple(name: string, value: number, ours: number, interval?: readonly [number, number]): string {
  const range = interval === undefined ? '' : ` [${brief(interval[0])}, ${brief(interval[1])}]`;
  return `${name} ${brief(value)} (${brief(value / ours)} ×${range})`;
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
