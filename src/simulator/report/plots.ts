import { counted, grouped } from '../../diagnostics/message_text.ts';
import type { Figure, FiguresReport, ReportedPlot, ReportedSeries } from '../../reports/data.ts';
import { reportPage } from '../../reports/page.ts';
import type { Bucket, Simulated } from '../simulation.ts';

const QUANTILES = [
  { name: 'p50', of: 0.5, color: '--plot2' },
  { name: 'p90', of: 0.9, color: '--plot3' },
  { name: 'p99', of: 0.99, color: '--plot4' },
] as const;

/** Colours of statuses by class, with others for further statuses of a class. */
const STATUS_COLORS: Readonly<Record<string, readonly string[]>> = {
  '1': ['--plot6'],
  '2': ['--plot1', '--plot7'],
  '3': ['--plot2', '--plot5'],
  '4': ['--plot3', '--plot8', '--plot5'],
  '5': ['--plot4', '--plot5', '--plot8', '--plot6'],
  n: ['--plot6'],
};
const DISTINCT = ['--plot4', '--plot3', '--plot2', '--plot5', '--plot6', '--plot8', '--plot7'];

/** The state of a breaker, by its decision, the most important first. */
const STATES = [
  { decision: 'block', name: 'open', color: '--plot4' },
  { decision: 'allow_while_open', name: 'lets a probe through', color: '--plot3' },
  { decision: 'allow', name: 'closed', color: '--plot1' },
] as const;

/** A page with plots of a run: statuses, decisions, breaker and latency in virtual time. */
export function plotsPage(simulated: Simulated, title: string, version: string): string {
  return reportPage(simulationReport(simulated, title, version));
}

function simulationReport(simulated: Simulated, title: string, version: string): FiguresReport {
  const { requests, durationMs, startMs, reasons, statuses, buckets } = simulated;
  const perSecond = durationMs / buckets.length / 1_000 || 1;
  const each = { simulated, perSecond };
  return {
    kind: 'figures',
    title,
    conclusion: `${counted(requests, 'request')} in ${durationMs / 1_000} s of virtual time from ${new Date(startMs).toISOString()}`,
    isGood: true,
    version,
    figures: figuresOf(simulated),
    tables: [],
    plots: [
      offeredPlot(each),
      stackPlot(each, {
        title: 'Responses by status',
        note: '',
        series: countsOf(each, statuses, ({ statuses: own }) => own, statusColors(statuses)),
      }),
      stackPlot(each, {
        title: 'Decisions',
        note: 'the code that stopped a request, or the outcome at its upstream',
        series: countsOf(each, reasons, ({ reasons: own }) => own, distinctColors(reasons)),
      }),
      latencyPlot(each),
    ],
    strips: breakerStrip(buckets),
  };
}

interface Run {
  readonly simulated: Simulated;
  /** Seconds of a bucket: counts are divided by it. */
  readonly perSecond: number;
}

/** The middle of each bucket, in seconds. */
function timesOf({ simulated: { buckets }, perSecond }: Run): number[] {
  return buckets.map((_, at) => (at + 0.5) * perSecond);
}

const marksOf = ({ simulated: { changes } }: Run): ReportedPlot['marks'] =>
  changes.map(({ atMs, message }) => ({ at: atMs / 1_000, message }));

function stackPlot(run: Run, own: Pick<ReportedPlot, 'title' | 'note' | 'series'>): ReportedPlot {
  const common = { form: 'stack', unit: 'per second', across: 'seconds' } as const;
  return { ...own, ...common, at: timesOf(run), marks: marksOf(run) };
}

function offeredPlot(run: Run): ReportedPlot {
  const { simulated, perSecond } = run;
  const { buckets, requests, servedLate } = simulated;
  const served = buckets.reduce((sum, bucket) => sum + bucket.served, servedLate);
  const rates = (key: 'offered' | 'served') => buckets.map((bucket) => bucket[key] / perSecond);
  return {
    title: 'Offered and served',
    note: 'requests that arrived, and responses with a status below 500',
    form: 'lines',
    unit: 'per second',
    across: 'seconds',
    at: timesOf(run),
    series: [
      { name: 'offered', color: '--plot2', total: grouped(requests), values: rates('offered') },
      { name: 'served', color: '--plot1', total: grouped(served), values: rates('served') },
    ],
    marks: marksOf(run),
  };
}

function latencyPlot(run: Run): ReportedPlot {
  const { buckets, latency } = run.simulated;
  return {
    title: 'Latency',
    note: 'on a logarithmic scale; vertical lines are scripted changes',
    form: 'logarithmic',
    unit: 'ms',
    across: 'seconds',
    at: timesOf(run),
    series: QUANTILES.map(({ name, of, color }) => ({
      name,
      color,
      total: `${latency.quantile(of).toFixed(1)} ms overall`,
      values: buckets.map(({ statuses, latency: own }) => (statuses.size === 0 ? null : own.quantile(of))),
    })),
    marks: marksOf(run),
  };
}

function figuresOf({ requests, durationMs, statuses, latency }: Simulated): Figure[] {
  let failed = 0;
  for (const [status, count] of statuses) if (status === 'none' || status.startsWith('5')) failed += count;
  return [
    [grouped(requests), 'requests'],
    [`${((requests / durationMs) * 1_000).toFixed(1)}/s`, 'on average'],
    [`${((failed / Math.max(1, requests)) * 100).toFixed(2)} %`, '5xx or no response'],
    ...QUANTILES.map(({ name, of }) => [`${latency.quantile(of).toFixed(1)} ms`, name] as const),
  ];
}

function countsOf(
  { simulated: { buckets }, perSecond }: Run,
  totals: ReadonlyMap<string, number>,
  of: (bucket: Bucket) => ReadonlyMap<string, number>,
  colors: ReadonlyMap<string, string>,
): ReportedSeries[] {
  return [...totals.keys()].toSorted(byText).map((name) => ({
    name,
    color: colors.get(name)!,
    total: grouped(totals.get(name)!),
    values: buckets.map((bucket) => (of(bucket).get(name) ?? 0) / perSecond),
  }));
}

/** Locale-independent order, the same on every machine. */
function byText(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function statusColors(totals: ReadonlyMap<string, number>): Map<string, string> {
  const taken = new Map<string, number>();
  return new Map(
    [...totals.keys()].toSorted(byText).map((status) => {
      const kind = status[0]!;
      const colors = STATUS_COLORS[kind] ?? STATUS_COLORS['n']!;
      const at = taken.get(kind) ?? 0;
      taken.set(kind, at + 1);
      return [status, colors[at % colors.length]!];
    }),
  );
}

function distinctColors(totals: ReadonlyMap<string, number>): Map<string, string> {
  return new Map(
    [...totals.keys()]
      .toSorted(byText)
      .map((name, index) => [
        name,
        name === 'upstream.answered' ? '--plot1' : DISTINCT[index % DISTINCT.length]!,
      ]),
  );
}

/** The state of the breakers over time: of a bucket with several states the most important one. */
function breakerStrip(buckets: readonly Bucket[]): FiguresReport['strips'] {
  if (buckets.every((bucket) => bucket.breaker.size === 0)) return [];
  const parts = buckets.map(({ breaker }) => {
    const seen = STATES.findIndex(({ decision }) => breaker.has(decision));
    return seen < 0 ? null : seen;
  });
  const states = STATES.map(({ name, color }) => ({ name, color }));
  return [{ title: 'State of the circuit breaker', states, parts }];
}
