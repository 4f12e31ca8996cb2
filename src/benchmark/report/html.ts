import { counted } from '../../diagnostics/message_text.ts';
import type { FiguresReport, ReportedPlot, ReportedTable } from '../../reports/data.ts';
import { reportPage } from '../../reports/page.ts';
import type { BenchResult, ResultRow } from '../result.ts';
import { ROW_COLUMNS, comparisonText, durationText, percentText, rowTexts } from './numbers.ts';

/** A page with the tables, and two plots for each row: its slices over time, and their distribution. */
export function htmlReport(result: BenchResult, version: string): string {
  return reportPage(benchReport(result, version));
}

function benchReport(result: BenchResult, version: string): FiguresReport {
  const { file, corpus, machine, rows, seed } = result;
  return {
    kind: 'figures',
    title: file,
    conclusion: `benchmark with ${counted(corpus.count, 'request')} ${corpus.from}`,
    isGood: true,
    version,
    figures: [
      ...rows.map(({ name, nsPerOp }) => [durationText(nsPerOp.value), name] as const),
      [`${machine.cpu}, ${counted(machine.cores, 'core')}`, `node ${machine.node}`],
      [String(seed), 'seed'],
    ],
    tables: tablesOf(result),
    plots: rows.flatMap((row) => [slicesPlot(row), distributionPlot(row)]),
    strips: [],
  };
}

function tablesOf({
  rows,
  parts,
  partsLeftOut,
  compared,
  against,
  suggestions,
}: BenchResult): ReportedTable[] {
  const tables: ReportedTable[] = [
    {
      title: 'Measurements',
      columns: [...ROW_COLUMNS, ''],
      rows: rows.map((row) => [...rowTexts(row), row.steady ? '' : 'not steady after the warm-up']),
    },
    {
      title: `Time per part of a decision${partsLeftOut === 0 ? '' : `; ${partsLeftOut} were not measured individually`}`,
      columns: ['', 'share', 'each', 'expected', 'reached', 'place'],
      rows: parts.map(({ kind, name, share, ns, estimatedNs, reached, of, place }) => [
        `${kind} ${name}`,
        percentText(share),
        durationText(ns),
        durationText(estimatedNs),
        `${reached}/${of}`,
        place ?? '',
      ]),
    },
    {
      title: `Against ${against ?? ''}`,
      columns: ['', ''],
      rows: compared.map(({ name, comparison }) => [name, comparisonText(comparison)]),
    },
    {
      title: 'Suggestions: each keeps every decision on these requests, and was measured',
      columns: ['', ''],
      rows: suggestions.map(({ message, comparison }) => [message, comparisonText(comparison)]),
    },
  ];
  return tables.filter((table) => table.rows.length > 0);
}

function slicesPlot({ name, samples }: ResultRow): ReportedPlot {
  return {
    title: `${name}: slices in order of measurement`,
    note: '',
    form: 'lines',
    unit: 'ns',
    across: 'slices',
    at: samples.map((_, at) => at + 1),
    series: [{ name: 'per op', total: '', color: '--plot2', values: samples }],
    marks: [],
  };
}

const BARS = 60;

/** The bars leave out values above the 99th percentile: one outlier would squeeze all others. */
function distributionPlot({ name, samples }: ResultRow): ReportedPlot {
  const sorted = samples.toSorted((one, other) => one - other);
  const low = sorted[0]!;
  const high = sorted[Math.floor((sorted.length - 1) * 0.99)]!;
  const step = (high - low) / BARS || 1;
  const counts = Array.from({ length: BARS }, () => 0);
  for (const ns of sorted) if (ns <= high) counts[Math.min(BARS - 1, Math.floor((ns - low) / step))]!++;
  return {
    title: `${name}: distribution`,
    note: 'slices by their time, without the slowest 1 %',
    form: 'bars',
    unit: 'count',
    across: 'ns',
    at: counts.map((_, at) => low + (at + 0.5) * step),
    series: [{ name: 'slices', total: '', color: '--plot1', values: counts }],
    marks: [],
  };
}
