import { overBlocks } from '../measure.ts';
import type { Cell, Measured, Sample } from './measuring.ts';
import type { Workload } from './workloads.ts';

/** A median of rounds with its 95 % bootstrap interval, and the spread of all rounds. */
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
  const { value, low, high } = overBlocks(values);
  return { median: value, least: Math.min(...values), most: Math.max(...values), low, high };
}
