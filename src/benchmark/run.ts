import type { EdgeConfig } from '../edge/document/schema.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { type Corpus, type Depth, decider } from './decision.ts';
import { type MeterOptions, type SubjectMaker, measure } from './meter.ts';
import { profile } from './profile.ts';
import { type BenchResult, type ComparedRow, RESULT_VERSION, type ResultRow } from './result.ts';
import { comparePairs, compareRuns } from './statistics.ts';
import { suggest } from './suggest.ts';

export interface BenchOptions {
  readonly file: string;
  readonly machine: BenchResult['machine'];
  readonly seed: number | string;
  readonly durationMs: number;
  readonly warmUpMs: number;
  /** Whether parts are measured individually and other orders tried. */
  readonly profile: boolean;
  /** File and line of a pointer into the configuration, such as `edge.yaml:12`. */
  readonly locate: (pointer: string) => string | null;
  readonly progress?: (doing: string, share: number) => void;
  /** See `MeterOptions`. */
  readonly clock?: () => number;
}

// table: what is measured of each decision, and its name in the report
const DEPTHS: readonly (readonly [name: string, depth: Depth, trace: 'decided' | 'full'])[] = [
  ['decision', 'decision', 'decided'],
  ['with its event', 'event', 'decided'],
  ['with event and trace', 'trace', 'full'],
];

/** Measures an edge on requests; `other` is measured in the same rounds. */
export async function benchEdge(
  config: EdgeConfig,
  corpus: Corpus,
  options: BenchOptions,
  other: { readonly name: string; readonly config: EdgeConfig } | null = null,
): Promise<BenchResult> {
  const { requests } = corpus;
  const { seed, locate } = options;
  const subjectsOf = (of: EdgeConfig, first: number) =>
    DEPTHS.map(
      ([, depth, trace], at) =>
        () =>
          decider(of, seed, trace, first + at).subject(requests, depth),
    );
  const names = DEPTHS.map(([name]) => name);
  const base = await benchSubjects(
    names,
    subjectsOf(config, 0),
    corpus,
    options,
    other && { name: other.name, subjects: subjectsOf(other.config, DEPTHS.length) },
  );
  if (!options.profile) return base;
  const short: MeterOptions = {
    ...meterOf(options, 'parts'),
    durationMs: options.durationMs / 8,
    // Shares of parts need less precision than comparisons between runs.
    minSlices: 32,
    warmUpMs: options.warmUpMs / 4,
  };
  const { parts, leftOut } = await profile(config, requests, base.rows[0]!.nsPerOp.value, seed, short);
  const suggestions = await suggest(config, requests, parts, seed, {
    ...short,
    ...meterOf(options, 'suggestions'),
  });
  return {
    ...base,
    parts: parts.map((part) => Object.assign({}, part, { place: locate(part.pointer) })),
    partsLeftOut: leftOut,
    suggestions,
  };
}

/** Measures any subjects by name; those of `other` are compared with those of the same name. */
export async function benchSubjects(
  names: readonly string[],
  subjects: readonly SubjectMaker[],
  corpus: Corpus,
  options: BenchOptions,
  other: { readonly name: string; readonly subjects: readonly SubjectMaker[] } | null = null,
): Promise<BenchResult> {
  const { file, machine, seed } = options;
  const all = [...subjects, ...(other?.subjects ?? [])];
  const cycles = all.map(() => corpus.requests.length);
  const found = await measure(all, { ...meterOf(options, 'decisions'), cycles });
  const rows = names.map((name, at): ResultRow => ({ name, ...found[at]! }));
  const compared = (other?.subjects ?? []).map((_, at): ComparedRow => {
    const theirs = found[subjects.length + at]!;
    return { name: names[at]!, comparison: comparePairs(theirs.samples, rows[at]!.samples) };
  });
  return {
    version: RESULT_VERSION,
    file,
    machine,
    corpus: { count: corpus.requests.length, from: corpus.from },
    seed,
    rows,
    parts: [],
    partsLeftOut: 0,
    suggestions: [],
    against: other?.name ?? null,
    compared,
  };
}

/** The same result, compared with an earlier one by row name. */
export function withBaseline(result: BenchResult, baseline: BenchResult, name: string): BenchResult {
  const { random } = seededChance(`${result.seed}/baseline`);
  const compared = result.rows.flatMap((row): ComparedRow[] => {
    const before = baseline.rows.find((each) => each.name === row.name);
    if (before === undefined) return [];
    return [{ name: row.name, comparison: compareRuns(before.samples, row.samples, random) }];
  });
  return { ...result, against: name, compared };
}

function meterOf(options: BenchOptions, doing: string): MeterOptions {
  const { durationMs, warmUpMs, seed, progress, clock } = options;
  const { random } = seededChance(`${seed}/meter`);
  return {
    durationMs,
    warmUpMs,
    random,
    ...(clock && { clock }),
    progress: (share) => progress?.(doing, share),
  };
}
