import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type LatencySummary, latencies } from './histogram.ts';
import { type Estimate, bootstrap } from './statistics.ts';
import type { Program } from '../cel/program.ts';

/** The measured function: does the work of one iteration; its result keeps the compiler from removing the work. */
export type Subject = (iteration: number) => unknown;

export interface MeterOptions {
  /** Sampling time per subject, in ms. */
  readonly durationMs: number;
  /** Maximum warm-up time of a subject, in ms. */
  readonly warmUpMs: number;
  /** Uniform in [0, 1); used for the bootstrap intervals. */
  readonly random: () => number;
  /** Milliseconds since an arbitrary start; default the system's monotonic clock. */
  readonly clock?: () => number;
  /**
   * For each subject, the number of iterations after which its work repeats: the length of its list of
   * requests. Slices take whole lists, so that no subject gets more of the expensive requests than another;
   * default one iteration.
   */
  readonly cycles?: readonly number[];
  /** Minimum number of slices, however short `durationMs` is; default 96, which comparisons of runs need. */
  readonly minSlices?: number;
  /** Whether latencies of single iterations and allocations are measured too; default true. */
  readonly extras?: boolean;
  /** Called with the progress, from 0 to 1. */
  readonly progress?: (share: number) => void;
}

type Clock = NonNullable<MeterOptions['clock']>;

/** The measurements of one subject. */
export interface Measurement {
  /** Nanoseconds per iteration, one number per slice, in the order of measurement. */
  readonly samples: readonly number[];
  readonly nsPerOp: Estimate;
  readonly opsPerSecond: number;
  /** Of single iterations, with the cost of the clock subtracted. */
  readonly latency: LatencySummary;
  readonly bytesPerOp: number;
  /** Share of the time of the slices that went into garbage collection. */
  readonly gcShare: number;
  /** Time until slices were steady, in ms. */
  readonly warmUpMs: number;
  readonly steady: boolean;
}

const SLICE_MS = 1;
const MIN_SLICES = 96;
/** Slices after a subject was rebuilt that are not counted. */
const SETTLING_SLICES = 2;
/** Lists that take longer are traversed in equal steps instead. */
const MAX_SLICE_MS = 4;
const LATENCY_ITERATIONS = 20_000;
/** Slices whose medians are compared to detect whether a subject is still getting faster. */
const WINDOW = 8;
const STEADY = 0.02;

let sink: unknown;

/** Builds a subject from scratch, without cached state. */
export type SubjectMaker = () => Subject;

/** Sections of a measurement; at the start of each all subjects are rebuilt. */
const STRETCHES = 16;

/**
 * Measures subjects side by side: every round has one slice of each, in varying order, so that other load on
 * the machine affects all of them equally. They are rebuilt for every section, because two copies of the same
 * thing may differ for their whole lifetime, depending on memory layout and compilation.
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
  const slices = Math.max(options.minSlices ?? MIN_SLICES, options.durationMs / SLICE_MS);
  const rounds = Math.ceil(slices / STRETCHES);
  // Subjects that take long to build are built once; otherwise building would take longer than measuring.
  const isMadeAnew = makingMs * STRETCHES < Math.max(1_000, options.durationMs * makers.length);
  const samples = makers.map((): number[] => []);
  const collected = await withGcTimes(() => {
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      if (isMadeAnew && stretch > 0) subjects = makers.map((make) => make());
      for (let again = 0; again < SETTLING_SLICES; again++)
        for (const [at, subject] of subjects.entries()) sliceMs(subject, 0, warmed[at]!.iterations, clock);
      takeTurns(subjects, warmed, { first: stretch * rounds, count: rounds }, samples, clock);
      options.progress?.((stretch + 1) / STRETCHES);
    }
  });
  const spent = samples.map((of, at) => of.reduce((sum, ns) => sum + ns * warmed[at]!.iterations, 0) / 1e6);
  const allSpent = spent.reduce((sum, ms) => sum + ms, 0);
  const withExtras = options.extras !== false;
  return subjects.map((subject, at) => {
    const nsPerOp = bootstrap(samples[at]!, options.random);
    return {
      samples: samples[at]!,
      nsPerOp,
      opsPerSecond: 1e9 / nsPerOp.value,
      latency: withExtras ? singleIterations(subject) : latencies().summary(),
      bytesPerOp: withExtras ? bytesOf(subject, cycles[at] ?? 1) : 0,
      // Garbage is collected for all subjects together, so each gets the overall share.
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
      const { iterations } = warmed[at]!;
      samples[at]!.push((sliceMs(subjects[at]!, round * iterations, iterations, clock) * 1e6) / iterations);
    }
  }
}

interface Warmed {
  /** Iterations that take about one slice. */
  readonly iterations: number;
  readonly tookMs: number;
  readonly steady: boolean;
}

/**
 * Runs subjects alternately until none gets faster, or until the limit. Alternately, because warming up one
 * subject may deoptimise code of another.
 */
function warmUp(subjects: readonly Subject[], limitMs: number, clock: Clock): readonly Warmed[] {
  const began = clock();
  const iterations = subjects.map((subject) => {
    let count = 1;
    while (sliceMs(subject, 0, count, clock) < SLICE_MS / 2 && count < 2 ** 24) count *= 2;
    return count;
  });
  const times = subjects.map((): number[] => []);
  const allSteady = () => times.every(isSteady);
  while (!allSteady() && clock() - began < limitMs * subjects.length) {
    for (const [at, subject] of subjects.entries())
      times[at]!.push(
        sliceMs(subject, times[at]!.length * iterations[at]!, iterations[at]!, clock) / iterations[at]!,
      );
  }
  const tookMs = clock() - began;
  return times.map((of) => {
    // Computed from the minimum time, which is undisturbed: longer slices are disturbed more often and would
    // look slower.
    const least = Math.min(...of.slice(-2 * WINDOW), Infinity);
    return { iterations: Math.max(1, Math.round(SLICE_MS / least)), tookMs, steady: isSteady(of) };
  });
}

/**
 * The iterations of each slice, so that subjects with the same list do the same work: whole lists if these are
 * short, otherwise the same number for all subjects that share a list, which traverse it together.
 */
function paced(warmed: readonly Warmed[], cycles: readonly number[]): readonly Warmed[] {
  return warmed.map((one, at) => {
    const cycle = cycles[at] ?? 1;
    const fewest = Math.min(
      ...warmed.filter((_, other) => (cycles[other] ?? 1) === cycle).map((of) => of.iterations),
    );
    if (cycle > (fewest * MAX_SLICE_MS) / SLICE_MS) return { ...one, iterations: fewest };
    return { ...one, iterations: Math.max(1, Math.round(one.iterations / cycle)) * cycle };
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
 * Wall-clock time, because processor time has a resolution of milliseconds on some systems. Slices are short,
 * so few are disturbed by other processes, and medians ignore those.
 */
function sliceMs(subject: Subject, first: number, iterations: number, clock: Clock): number {
  const began = clock();
  for (let iteration = first; iteration < first + iterations; iteration++) sink = subject(iteration);
  return clock() - began;
}

/** Latencies of single iterations. The median cost of reading the clock is subtracted. */
function singleIterations(subject: Subject): LatencySummary {
  const clock = latencies();
  for (let iteration = 0; iteration < LATENCY_ITERATIONS; iteration++) {
    const began = performance.now();
    clock.record((performance.now() - began) * 1e6);
  }
  const reading = clock.at(0.5);
  const found = latencies();
  for (let iteration = 0; iteration < LATENCY_ITERATIONS; iteration++) {
    const began = performance.now();
    sink = subject(iteration);
    found.record((performance.now() - began) * 1e6 - reading);
  }
  return found.summary();
}

let collector: ((options: { readonly type: 'minor' }) => void) | null = null;

/** Bytes allocated per iteration: heap growth over iterations without garbage collection. */
function bytesOf(subject: Subject, cycle: number): number {
  if (collector === null) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as NonNullable<typeof collector>;
  }
  const grown = (iterations: number): number => {
    // What is allocated next is in the new space, however large the old one is.
    collector!({ type: 'minor' });
    const before = process.memoryUsage().heapUsed;
    for (let iteration = 0; iteration < iterations; iteration++) sink = subject(Math.floor(iteration * step));
    return process.memoryUsage().heapUsed - before;
  };
  // A short list is used whole; of a long one, iterations from all over it are used.
  const taken =
    cycle > ALLOCATING_ITERATIONS
      ? ALLOCATING_ITERATIONS
      : Math.ceil(ALLOCATING_ITERATIONS / 2 / cycle) * cycle;
  const step = Math.max(1, cycle / ALLOCATING_ITERATIONS);
  // The new space holds a few hundred kilobytes; the measured work has to stay below that, and reading the heap
  // size allocates as well.
  const sizes: number[] = [];
  const fixed = Math.min(...Array.from({ length: 5 }, () => grown(0)));
  for (let round = 0; round < 7; round++) sizes.push((grown(taken) - fixed) / taken);
  return Math.max(0, Math.round(sizes.sort((one, other) => one - other)[3]!));
}

const ALLOCATING_ITERATIONS = 64;

/** Runs work and returns the time spent in garbage collection meanwhile. */
async function withGcTimes(work: () => void): Promise<{ readonly ms: number }> {
  let ms = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) ms += entry.duration;
  });
  observer.observe({ entryTypes: ['gc'] });
  work();
  // Performance entries are delivered between iterations of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  for (const entry of observer.takeRecords()) ms += entry.duration;
  observer.disconnect();
  if (sink === observer) throw new Error('unreachable');
  return { ms };
}

/**
 * The work of one iteration: evaluates an expression on one of its inputs. Inputs are rebuilt each time,
 * because they cache what was read.
 */
export function expressionSubject<A>(program: Program<A>, inputs: readonly (() => A)[]): Subject {
  return (iteration) => program.evaluate(inputs[iteration % inputs.length]!());
}
