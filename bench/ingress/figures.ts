import type { Cell, Measured, Sample } from './measuring.ts';
import type { Workload } from './workloads.ts';

/** A figure with the spread of the middle half of its rounds, and of all rounds. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly low: number;
  readonly high: number;
}

export type Pick = (sample: Sample) => number | null;

export const perSecond: Pick = (sample) => sample.perSecond;
export const cpuEach: Pick = (sample) => sample.cpuMicrosEach;
export const p99: Pick = (sample) => sample.p99Ms;

/** The samples of a cell; empty if it was skipped. */
export const samplesOf = (cell: Cell): readonly Sample[] => ('skipped' in cell ? [] : cell);

/** The median of all rounds; null without samples. */
export function figureOf(cell: Cell, pick: Pick): Figure | null {
  return figure(samplesOf(cell).flatMap((sample) => pick(sample) ?? []));
}

/** The median of ratios within the same round, so that slow minutes of the machine cancel out. */
export function ratioOf(
  measured: Measured,
  workload: Workload,
  names: { readonly of: string; readonly to: string },
  pick: Pick,
): Figure | null {
  const [ones, others] = [names.of, names.to].map((name) => samplesOf(measured.cell(workload, name)));
  const ratios = ones!.flatMap((one, round) => {
    const other = others![round];
    const [above, below] = [pick(one), other === undefined ? null : pick(other)];
    return above === null || below === null ? [] : above / below;
  });
  return figure(ratios);
}

function figure(values: readonly number[]): Figure | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.round((sorted.length - 1) * share)]!;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: at(0), most: at(1), low: at(0.25), high: at(0.75) };
}
