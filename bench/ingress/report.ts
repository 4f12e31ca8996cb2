import type { BenchRow } from '../measure.ts';
import { OURS_NAME } from './contestants.ts';
import type { Cell, Measured, Sample } from './measuring.ts';

/** A figure with the spread of the middle half of its rounds. */
interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The table of one workload: every contestant with its ratio to the reference, round by round. */
export function tableOf(measured: Measured, workload: string, reference = 'nginx'): string {
  const base = measured.cell(workload, reference);
  const rows = measured.contestants.map((name) => rowOf(name, measured.cell(workload, name), base));
  const head = [
    '',
    'requests/s',
    `× ${reference}`,
    'CPU µs each',
    `CPU × ${reference}`,
    'p50 ms',
    'p99 ms',
    'RSS MB',
    'faults',
  ];
  return `${workload}\n${aligned([head, ...rows])}`;
}

function rowOf(name: string, cell: Cell, base: Cell): string[] {
  if ('skipped' in cell) return [name, `skipped: ${cell.skipped}`];
  if (cell.length === 0) return [name, 'no figures'];
  const ratios = (pick: (sample: Sample) => number): string =>
    'skipped' in base || base.length === 0 ? '' : spread(ratioOf(cell, base, pick), 2);
  const late = cell.flatMap(({ p99Ms }) => p99Ms ?? []);
  return [
    name,
    Math.round(figure(cell.map(({ perSecond }) => perSecond)).median).toLocaleString('en'),
    ratios(({ perSecond }) => perSecond),
    figure(cell.map(({ cpuMicrosEach }) => cpuMicrosEach)).median.toFixed(1),
    ratios(({ cpuMicrosEach }) => cpuMicrosEach),
    figure(cell.map(({ p50Ms }) => p50Ms)).median.toFixed(2),
    late.length === 0 ? '' : figure(late).median.toFixed(2),
    figure(cell.map(({ rssMb }) => rssMb)).median.toFixed(0),
    String(cell.reduce((sum, { faults }) => sum + faults, 0)),
  ];
}

/** Ratios of the same round, so that a slow minute of the machine cancels out. */
function ratioOf(cell: readonly Sample[], base: readonly Sample[], pick: (sample: Sample) => number): Figure {
  const rounds = Math.min(cell.length, base.length);
  return figure(Array.from({ length: rounds }, (_, round) => pick(cell[round]!) / pick(base[round]!)));
}

function figure(values: readonly number[]): Figure {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, low: at(0.25), high: at(0.75) };
}

function spread({ median, low, high }: Figure, digits: number): string {
  return `${median.toFixed(digits)} (${low.toFixed(digits)}–${high.toFixed(digits)})`;
}

/** Columns of equal width; a row that is shorter ends where it ends. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) =>
    Math.max(...rows.map((row) => (row.length === 2 && column === 1 ? 0 : (row[column]?.length ?? 0)))),
  );
  return rows
    .map((row) =>
      `  ${row.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join('  ')}`.trimEnd(),
    )
    .join('\n');
}

/** Our CPU time a request beside that of the others, for the report of all benchmarks. */
export function benchRows(measured: Measured, ours = OURS_NAME): BenchRow[] {
  return measured.workloads.flatMap((workload) => {
    const medians = measured.contestants.flatMap((name): [string, number][] => {
      const cell = measured.cell(workload, name);
      return 'skipped' in cell || cell.length === 0
        ? []
        : [[name, figure(cell.map(({ cpuMicrosEach }) => cpuMicrosEach)).median]];
    });
    const { [ours]: mine, ...peers } = Object.fromEntries(medians);
    return mine === undefined ? [] : [{ name: workload, ours: mine, unit: 'µs CPU', peers }];
  });
}
