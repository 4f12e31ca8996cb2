import { escapeHtml } from '../../http/ascii.ts';

/** Plots over virtual time as self-contained SVG without scripts. */

/** The common time axis of a page's plots, from left to right. */
export interface Axis {
  readonly durationMs: number;
  readonly stretches: number;
  readonly changes: readonly { readonly atMs: number; readonly message: string }[];
}

/** One line, or one colour of a stack. */
export interface Series {
  readonly name: string;
  readonly color: string;
  /** For the legend; empty for none. */
  readonly total: string;
  /** By bucket; null for no data. */
  readonly values: readonly (number | null)[];
}

interface Scale {
  readonly unit: string;
  /** Divisor for displayed values. */
  readonly per: number;
}

const WIDTH = 960;
const HEIGHT = 200;
const LEFT = 52;
const TOP = 16;
const BOTTOM = 22;
const PLOT = WIDTH - LEFT;

/** Names with their colours. */
export function legend(series: readonly Series[]): string {
  const parts = series.map(
    ({ name, color, total }) =>
      `<span><i style="background:${color}"></i>${escapeHtml(name)}${total === '' ? '' : ` <b>${escapeHtml(total)}</b>`}</span>`,
  );
  return `<p class="legend">${parts.join('')}</p>`;
}

/** Stacked counts. */
export function areaPlot(series: readonly Series[], axis: Axis, scale: Scale): string {
  const sums = Array.from({ length: axis.stretches }, (_, at) =>
    series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  const most = niceAbove(Math.max(...sums) / scale.per) * scale.per || 1;
  const wide = PLOT / axis.stretches;
  const below = sums.map(() => 0);
  const bars = series.flatMap(({ name, color, values }) =>
    values.flatMap((value, at) => {
      if (value === null || value === 0) return [];
      const high = (value / most) * HEIGHT;
      below[at]! += high;
      const y = TOP + HEIGHT - below[at]!;
      const label = `${name}: ${shown(value / scale.per)}${scale.unit} at ${timeText((at / axis.stretches) * axis.durationMs)}`;
      return [
        `<rect x="${fixed(LEFT + at * wide)}" y="${fixed(y)}" width="${fixed(wide + 0.2)}" height="${fixed(high)}" fill="${color}"><title>${escapeHtml(label)}</title></rect>`,
      ];
    }),
  );
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => ({ part, value: (most / scale.per) * part }));
  return framed(bars, axis, { ticks, unit: scale.unit }, HEIGHT);
}

/** Lines on a logarithmic scale, with gaps where there is no data: both slow and fast responses are readable. */
export function linePlot(series: readonly Series[], axis: Axis, { unit }: Scale): string {
  const positive = series.flatMap(({ values }) =>
    values.flatMap((value) => (value === null || value <= 0 ? [] : [value])),
  );
  const most = Math.max(...positive, LEAST);
  const low = Math.floor(Math.log10(Math.max(LEAST, Math.min(...positive, most))));
  const decades = Math.max(1, Math.ceil(Math.log10(most) - 1e-9) - low);
  const partOf = (value: number): number => Math.max(0, Math.log10(Math.max(value, LEAST)) - low) / decades;
  const lines = series.flatMap(({ color, values, name }) =>
    runsOf(values).map((run) => {
      const points = run.map(({ at, value }) => {
        const x = LEFT + ((at + 0.5) / axis.stretches) * PLOT;
        return `${fixed(x)},${fixed(TOP + HEIGHT - partOf(value) * HEIGHT)}`;
      });
      return `<polyline fill="none" stroke="${color}" stroke-width="1.8" stroke-linejoin="round" points="${points.join(' ')}"><title>${escapeHtml(name)}</title></polyline>`;
    }),
  );
  const steps = decades > 3 ? [1] : [1, 2, 5];
  const ticks = Array.from({ length: decades + 1 }, (_, at) => steps.map((step) => step * 10 ** (low + at)))
    .flat()
    .map((value) => ({ part: partOf(value), value }))
    .filter(({ part }) => part <= 1 + 1e-9);
  return framed(lines, axis, { ticks, unit }, HEIGHT);
}

/** Smaller values are drawn at the bottom. */
const LEAST = 0.01;

const STRIP = 26;

/** A sequence of states. */
export function statePlot(
  states: readonly ({ readonly name: string; readonly color: string; readonly message: string } | null)[],
  axis: Axis,
): string {
  const wide = PLOT / states.length;
  const parts = states.flatMap((state, at) =>
    state === null
      ? []
      : [
          `<rect x="${fixed(LEFT + at * wide)}" y="${TOP}" width="${fixed(wide + 0.2)}" height="${STRIP}" fill="${state.color}"><title>${escapeHtml(`${state.name} at ${timeText((at / states.length) * axis.durationMs)}: ${state.message}`)}</title></rect>`,
        ],
  );
  return framed(parts, axis, null, STRIP);
}

function runsOf(values: readonly (number | null)[]): { at: number; value: number }[][] {
  const runs: { at: number; value: number }[][] = [];
  let isOpen = false;
  for (const [at, value] of values.entries()) {
    if (value !== null && isOpen) runs.at(-1)!.push({ at, value });
    else if (value !== null) runs.push([{ at, value }]);
    isOpen = value !== null;
  }
  return runs;
}

interface Tick {
  /** Height, from 0 to 1. */
  readonly part: number;
  readonly value: number;
}

const ROW = 13;
/** Width of a character at the size of labels, at most. */
const CHARACTER = 7;

/** Labels beside their lines, each in the lowest row where it overlaps no other one, and inside the plot. */
function placedLabels(
  labels: readonly { readonly x: number; readonly message: string }[],
): { readonly x: number; readonly left: number; readonly row: number; readonly message: string }[] {
  const ends: number[] = [];
  return labels
    .toSorted((one, other) => one.x - other.x)
    .map(({ x, message }) => {
      const wide = message.length * CHARACTER;
      const left = Math.max(LEFT, Math.min(x + 3, WIDTH - wide));
      const free = ends.findIndex((end) => end <= left);
      const row = free < 0 ? ends.length : free;
      ends[row] = left + wide;
      return { x, left, row, message };
    });
}

/** The plot with its axes, and lines at changes of upstreams. */
function framed(
  content: readonly string[],
  { durationMs, changes }: Axis,
  scale: { readonly ticks: readonly Tick[]; readonly unit: string } | null,
  high: number,
): string {
  const across = (scale?.ticks ?? []).map(({ part, value }, at, { length }) => {
    const y = TOP + high * (1 - part);
    const unit = at === length - 1 ? escapeHtml(scale!.unit) : '';
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${LEFT - 6}" y="${fixed(y + 4)}" text-anchor="end">${shown(value)}${unit}</text>`;
  });
  const steps = 6;
  const times = Array.from({ length: steps + 1 }, (_, at) => {
    const x = LEFT + (at / steps) * PLOT;
    const anchor = at === 0 ? 'start' : at === steps ? 'end' : 'middle';
    return `<text x="${fixed(x)}" y="${TOP + high + 15}" text-anchor="${anchor}">${timeText((at / steps) * durationMs)}</text>`;
  });
  const labels = placedLabels(
    changes.map(({ atMs, message }) => ({ x: LEFT + (atMs / durationMs) * PLOT, message })),
  );
  const rows = Math.max(0, ...labels.map(({ row }) => row));
  const changed = labels.map(({ x, left, row, message }) => {
    const y = TOP - 5 - row * ROW;
    return `<line class="change" x1="${fixed(x)}" x2="${fixed(x)}" y1="${y}" y2="${TOP + high}"/><text class="said" x="${fixed(left)}" y="${y}">${escapeHtml(message)}</text>`;
  });
  const above = rows * ROW;
  return `<svg viewBox="0 ${-above} ${WIDTH} ${TOP + high + BOTTOM + above}" role="img">${across.join('')}${content.join('')}${changed.join('')}${times.join('')}</svg>`;
}

/** The next larger value of 1, 2, 2.5 or 5 times a power of ten. */
function niceAbove(value: number): number {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value - 1e-9)!;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** A time since the start. */
function timeText(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 120) return `${Number(seconds.toFixed(1))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Number((seconds / 3_600).toFixed(1))} h`;
}

function fixed(value: number): string {
  return value.toFixed(2);
}
