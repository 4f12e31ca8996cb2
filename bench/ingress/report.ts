import type { BenchRow } from '../measure.ts';
import { OURS_NAME } from './contestants.ts';
import { type Figure, type Pick, cpuEach, figureOf, p99, perSecond, ratioOf, samplesOf } from './figures.ts';
import { type Goal, LEAST_BESIDE_NGINX, goalsOf } from './goals.ts';
import type { Measured } from './measuring.ts';
import type { Workload } from './workloads.ts';

/** A heading and rows of cells; the first row heads the columns. */
export interface Table {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

const REFERENCE = 'nginx';

/** The table of one workload: every contestant compared with the reference and with ours, with the goals. */
export function tableOf(measured: Measured, workload: Workload): Table {
  const head = ['', 'requests/s', `× ${REFERENCE}`, 'CPU µs each', `CPU × ${REFERENCE}`, 'p50 ms', 'p99 ms'];
  const further = ['RSS MB', 'kB each', 'load idle', 'faults', 'ours ×', 'ours × by CPU', 'goal of ours'];
  const rows = measured.contestants
    .filter(({ only }) => only?.(workload) ?? true)
    .map(({ name }) => rowOf(measured, workload, name));
  return { title: `${workload.name} (${workload.id})`, rows: [[...head, ...further], ...rows] };
}

function rowOf(measured: Measured, workload: Workload, name: string): string[] {
  const cell = measured.cell(workload, name);
  if ('skipped' in cell) return [name, `skipped: ${cell.skipped}`];
  return [
    name,
    shown(figureOf(cell, perSecond), 0),
    besideReference(measured, workload, name, perSecond),
    shown(figureOf(cell, cpuEach), 1),
    besideReference(measured, workload, name, cpuEach),
    shown(
      figureOf(cell, (sample) => sample.p50Ms),
      2,
    ),
    shown(figureOf(cell, p99), 2),
    shown(
      figureOf(cell, (sample) => sample.rssMb),
      0,
    ),
    shown(
      figureOf(cell, ({ bytesEach }) => (bytesEach === null ? null : bytesEach / 1_024)),
      2,
    ),
    percent(figureOf(cell, (sample) => sample.loadIdle)),
    String(samplesOf(cell).reduce((sum, { faults }) => sum + faults, 0)),
    ...besideOurs(measured, workload, name),
  ];
}

function besideReference(measured: Measured, workload: Workload, name: string, pick: Pick): string {
  return name === REFERENCE ? '1' : spread(ratioOf(measured, workload, { of: name, to: REFERENCE }, pick));
}

function besideOurs(measured: Measured, workload: Workload, name: string): string[] {
  if (name === OURS_NAME) return ['', '', ''];
  const throughput = ratioOf(measured, workload, { of: OURS_NAME, to: name }, perSecond);
  const cpu = ratioOf(measured, workload, { of: name, to: OURS_NAME }, cpuEach);
  return [shown(throughput, 2), shown(cpu, 2), goalsBeside(measured, workload, name).join('; ')];
}

/** Each goal relative to one peer, and whether it is met. */
function goalsBeside(measured: Measured, workload: Workload, peer: string): string[] {
  return goalsOf(workload)
    .filter((goal) => goal.peer === peer)
    .flatMap((goal) => verdictOf(measured, workload, goal) ?? []);
}

function verdictOf(measured: Measured, workload: Workload, { peer, of, times }: Goal): string | null {
  const beside = { of: OURS_NAME, to: peer };
  if (of === 'p99') {
    const late = ratioOf(measured, workload, beside, p99)?.median;
    if (late === undefined) return null;
    return `p99 ≤ ${times} ×: ${late <= times ? 'met' : 'missed'}, ${late.toFixed(2)}`;
  }
  const byCpu = tellsByCpu(measured, workload, peer);
  const reached = byCpu
    ? ratioOf(measured, workload, { of: peer, to: OURS_NAME }, cpuEach)
    : ratioOf(measured, workload, beside, perSecond);
  if (reached === null) return null;
  const how = byCpu ? ' by CPU' : '';
  if (reached.median >= times) return `≥ ${times} ×: met${how}`;
  const least = workload.allOn && peer === REFERENCE && reached.median >= LEAST_BESIDE_NGINX;
  return `≥ ${times} ×: missed${how}${least ? `, but ≥ ${LEAST_BESIDE_NGINX} ×` : ''}`;
}

/** Idle share below which the load is the limit, and foreign share above which other processes are. */
const LOAD_IDLE_AT_LEAST = 0.03;
const FOREIGN_AT_MOST = 0.1;

/** Whether processor time shows which is faster, because throughput was limited by the load or by other processes. */
function tellsByCpu(measured: Measured, workload: Workload, peer: string): boolean {
  return [OURS_NAME, peer].some((name) => {
    const cell = measured.cell(workload, name);
    const idle = figureOf(cell, (sample) => sample.loadIdle)?.median ?? 1;
    const foreign = figureOf(cell, (sample) => sample.foreign)?.median ?? 0;
    return idle < LOAD_IDLE_AT_LEAST || foreign > FOREIGN_AT_MOST;
  });
}

/** All goals of all workloads, a line each, without those whose peer did not take part. */
export function goalLines(measured: Measured): string[] {
  return measured.workloads.flatMap((workload) =>
    measured.contestants.flatMap(({ name }) =>
      goalsBeside(measured, workload, name).map((verdict) => `${workload.name}, ${name}: ${verdict}`),
    ),
  );
}

const shown = (figure: Figure | null, digits: number): string =>
  figure?.median.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }) ?? '';

const percent = (figure: Figure | null): string =>
  figure === null ? '' : `${(figure.median * 100).toFixed(0)} %`;

function spread(figure: Figure | null): string {
  if (figure === null) return '';
  const { median, low, high } = figure;
  return `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

/** Columns of equal width; shorter rows are not padded. */
export function textOf({ title, rows }: Table): string {
  const last = rows[0]!.length - 1;
  const widths = rows[0]!.map((_, column) =>
    Math.max(...rows.map((row) => (row.length === 2 && column === 1 ? 0 : (row[column]?.length ?? 0)))),
  );
  const lines = rows.map((row) =>
    row
      .map((text, column) =>
        column === 0 || column === last ? text.padEnd(widths[column]!) : text.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  return [title, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** The same as Markdown. */
export function markdownOf({ title, rows: [head = [], ...rows] }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${[...cells, ...head.slice(cells.length).map(() => '')].join(' | ')} |`;
  const marks = head.map((_, column) => (column === 0 || column === head.length - 1 ? '---' : '--:'));
  return [`### ${title}`, '', line(head), `|${marks.join('|')}|`, ...rows.map(line)].join('\n');
}

/** Our CPU time per request compared with the others, for the report of all benchmarks. */
export function benchRows(measured: Measured): BenchRow[] {
  return measured.workloads.flatMap((workload) => {
    const medians = measured.contestants.flatMap(({ name }): [string, number][] => {
      const figure = figureOf(measured.cell(workload, name), cpuEach);
      return figure === null ? [] : [[name, figure.median]];
    });
    const { [OURS_NAME]: ours, ...peers } = Object.fromEntries(medians);
    if (ours === undefined) return [];
    const ratios = Object.keys(peers).flatMap((of): [string, [number, number]][] => {
      const ratio = ratioOf(measured, workload, { of, to: OURS_NAME }, cpuEach);
      return ratio === null ? [] : [[of, [ratio.least, ratio.most]]];
    });
    return [{ name: workload.name, ours, unit: 'µs CPU', peers, ratios: Object.fromEntries(ratios) }];
  });
}
