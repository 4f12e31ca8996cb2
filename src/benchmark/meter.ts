import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type LatencySummary, latencies } from './histogram.ts';
import { type Estimate, bootstrap } from './statistics.ts';

/** What is measured: does the work of one turn; its answer keeps the work from being left out. */
export type Subject = (turn: number) => unknown;

export interface MeterOptions {
  /** How long samples are taken, per subject, in ms. */
  readonly durationMs: number;
  /** The longest that a subject is warmed up, in ms. */
  readonly warmUpMs: number;
  /** Uniform in [0, 1): for the intervals. */
  readonly random: () => number;
  /** Milliseconds of any beginning; default the system's monotonic clock. */
  readonly clock?: () => number;
  /**
   * For each subject, after how many turns its work repeats: the length of the list of requests that it goes through.
   * Slices take whole lists, so that no subject gets more of the dear requests than another; default one turn.
   */
  readonly cycles?: readonly number[];
  /** Whether latencies of single turns and allocations are measured too; default true. */
  readonly extras?: boolean;
  /** Told of how far the work is, from 0 to 1. */
  readonly progress?: (share: number) => void;
}

type Clock = NonNullable<MeterOptions['clock']>;

/** What was measured of one subject. */
export interface Measurement {
  /** Nanoseconds a turn, one number for each slice, in the order in which they were taken. */
  readonly samples: readonly number[];
  readonly nsPerOp: Estimate;
  readonly opsPerSecond: number;
  /** Of single turns, the clock's own cost taken off. */
  readonly latency: LatencySummary;
  readonly bytesPerOp: number;
  /** Share of the time of the slices that went into collecting garbage. */
  readonly gcShare: number;
  /** How long it took until slices were steady, in ms. */
  readonly warmUpMs: number;
  readonly steady: boolean;
}

const SLICE_MS = 1;
const LEAST_SLICES = 96;
/** Slices of a subject that was made anew and are not counted. */
const SETTLING_SLICES = 2;
/** Lists that take longer are gone through in equal steps instead. */
const LONGEST_SLICE_MS = 4;
const LATENCY_TURNS = 20_000;
/** Slices whose medians are compared to tell whether a subject is still getting faster. */
const WINDOW = 8;
const STEADY = 0.02;

let sink: unknown;

/** Makes a subject anew, with nothing remembered. */
export type SubjectMaker = () => Subject;

/** Stretches of a measurement; each begins with all subjects made anew. */
export const STRETCHES = 16;

/**
 * Measures subjects side by side: in every round each has one slice, in changing order, so that what else happens on
 * the machine happens to all of them. They are made anew for every stretch, because two copies of the same thing may
 * differ for as long as they live, by where they lie in memory and what the compiler made of them.
 */
export async function measure(
  makers: readonly SubjectMaker[],
  options: MeterOptions,
): Promise<readonly Measurement[]> {
  const clock = options.clock ?? (() => performance.now());
  const began = clock();
  let subjects = makers.map((make) => make());
  const makingMs = clock() - began;
  const cycles = options.cycles ?? [];
  const warmed = paced(warmUp(subjects, options.warmUpMs, clock), cycles);
  const rounds = Math.ceil(Math.max(LEAST_SLICES, options.durationMs / SLICE_MS) / STRETCHES);
  // What takes long to make is made once: it would take longer than measuring it.
  const isMadeAnew = makingMs * STRETCHES < Math.max(1_000, options.durationMs * makers.length);
  const samples = makers.map((): number[] => []);
  const collected = await withGcTimes(() => {
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      if (isMadeAnew && stretch > 0) subjects = makers.map((make) => make());
      for (let again = 0; again < SETTLING_SLICES; again++)
        for (const [at, subject] of subjects.entries()) sliceMs(subject, 0, warmed[at]!.turns, clock);
      takeTurns(subjects, warmed, { first: stretch * rounds, count: rounds }, samples, clock);
      options.progress?.((stretch + 1) / STRETCHES);
    }
  });
  const spent = samples.map((of, at) => of.reduce((sum, ns) => sum + ns * warmed[at]!.turns, 0) / 1e6);
  const allSpent = spent.reduce((sum, ms) => sum + ms, 0);
  const withExtras = options.extras !== false;
  return subjects.map((subject, at) => {
    const nsPerOp = bootstrap(samples[at]!, options.random);
    return {
      samples: samples[at]!,
      nsPerOp,
      opsPerSecond: 1e9 / nsPerOp.value,
      latency: withExtras ? singleTurns(subject) : latencies().summary(),
      bytesPerOp: withExtras ? bytesOf(subject, cycles[at] ?? 1) : 0,
      // Garbage is collected for all in turn; its share is that of the whole.
      gcShare: Math.min(1, collected.ms / Math.max(allSpent, 1e-9)),
      warmUpMs: warmed[at]!.tookMs,
      steady: warmed[at]!.steady,
    };
  });
}

function takeTurns(
  subjects: readonly Subject[],
  warmed: readonly Warmed[],
  rounds: { readonly first: number; readonly count: number },
  samples: readonly number[][],
  clock: Clock,
): void {
  for (let round = rounds.first; round < rounds.first + rounds.count; round++) {
    for (let place = 0; place < subjects.length; place++) {
      const at = (place + round) % subjects.length;
      const { turns } = warmed[at]!;
      samples[at]!.push((sliceMs(subjects[at]!, round * turns, turns, clock) * 1e6) / turns);
    }
  }
}

interface Warmed {
  /** Turns that take about one slice. */
  readonly turns: number;
  readonly tookMs: number;
  readonly steady: boolean;
}

/**
 * Runs subjects in turns until none of them gets faster, or for as long as is allowed. In turns, because what one
 * teaches the compiler may slow down another.
 */
function warmUp(subjects: readonly Subject[], limitMs: number, clock: Clock): readonly Warmed[] {
  const began = clock();
  const turns = subjects.map((subject) => {
    let count = 1;
    while (sliceMs(subject, 0, count, clock) < SLICE_MS / 2 && count < 2 ** 24) count *= 2;
    return count;
  });
  const times = subjects.map((): number[] => []);
  const allSteady = () => times.every(isSteady);
  while (!allSteady() && clock() - began < limitMs * subjects.length) {
    for (const [at, subject] of subjects.entries())
      times[at]!.push(sliceMs(subject, times[at]!.length * turns[at]!, turns[at]!, clock) / turns[at]!);
  }
  const tookMs = clock() - began;
  return times.map((of) => {
    // From the least time, which nothing disturbed: a longer slice is disturbed more often and would look slower.
    const least = Math.min(...of.slice(-2 * WINDOW), Infinity);
    return { turns: Math.max(1, Math.round(SLICE_MS / least)), tookMs, steady: isSteady(of) };
  });
}

/**
 * The turns of each slice, so that subjects with the same list do the same work: whole lists where these are short,
 * else as many turns for all that share a list, which go through it together.
 */
function paced(warmed: readonly Warmed[], cycles: readonly number[]): readonly Warmed[] {
  return warmed.map((one, at) => {
    const cycle = cycles[at] ?? 1;
    const fewest = Math.min(
      ...warmed.filter((_, other) => (cycles[other] ?? 1) === cycle).map((of) => of.turns),
    );
    if (cycle > (fewest * LONGEST_SLICE_MS) / SLICE_MS) return { ...one, turns: fewest };
    return { ...one, turns: Math.max(1, Math.round(one.turns / cycle)) * cycle };
  });
}

function isSteady(times: readonly number[]): boolean {
  if (times.length < 6 * WINDOW) return false;
  const last = Math.min(...times.slice(-WINDOW));
  const before = Math.min(...times.slice(-2 * WINDOW, -WINDOW));
  const earlier = Math.min(...times.slice(-3 * WINDOW, -2 * WINDOW));
  return last > Math.min(before, earlier) * (1 - STEADY);
}

/**
 * Time of day: processor time is counted in ticks of milliseconds on some systems. Slices are so short that few are
 * disturbed by what else runs, and medians leave those out.
 */
function sliceMs(subject: Subject, first: number, turns: number, clock: Clock): number {
  const began = clock();
  for (let turn = first; turn < first + turns; turn++) sink = subject(turn);
  return clock() - began;
}

/** Latencies of single turns. Reading the clock takes time too; its median is taken off. */
function singleTurns(subject: Subject): LatencySummary {
  const clock = latencies();
  for (let turn = 0; turn < LATENCY_TURNS; turn++) {
    const began = performance.now();
    clock.record((performance.now() - began) * 1e6);
  }
  const reading = clock.at(0.5);
  const found = latencies();
  for (let turn = 0; turn < LATENCY_TURNS; turn++) {
    const began = performance.now();
    sink = subject(turn);
    found.record((performance.now() - began) * 1e6 - reading);
  }
  return found.summary();
}

let collector: (() => void) | null = null;

/** Bytes that a turn allocates: the growth of the heap over turns in which nothing was collected. */
function bytesOf(subject: Subject, cycle: number): number {
  if (collector === null) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as () => void;
  }
  const grown = (turns: number): number => {
    collector!();
    const before = process.memoryUsage().heapUsed;
    for (let turn = 0; turn < turns; turn++) sink = subject(Math.floor(turn * step));
    return process.memoryUsage().heapUsed - before;
  };
  // A short list is gone through whole, of a long one turns from all over it are taken.
  const taken = cycle > ALLOCATING_TURNS ? ALLOCATING_TURNS : Math.ceil(ALLOCATING_TURNS / 2 / cycle) * cycle;
  const step = Math.max(1, cycle / ALLOCATING_TURNS);
  // The new space holds a few hundred kilobytes; what is measured has to stay below, and asking allocates as well.
  const sizes: number[] = [];
  const fixed = Math.min(...Array.from({ length: 5 }, () => grown(0)));
  for (let round = 0; round < 7; round++) sizes.push((grown(taken) - fixed) / taken);
  return Math.max(0, Math.round(sizes.sort((one, other) => one - other)[3]!));
}

const ALLOCATING_TURNS = 64;

/** Runs work and tells how long garbage was collected meanwhile. */
async function withGcTimes(work: () => void): Promise<{ readonly ms: number }> {
  let ms = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) ms += entry.duration;
  });
  observer.observe({ entryTypes: ['gc'] });
  work();
  // Entries are handed over between turns of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  for (const entry of observer.takeRecords()) ms += entry.duration;
  observer.disconnect();
  if (sink === observer) throw new Error('unreachable');
  return { ms };
}
