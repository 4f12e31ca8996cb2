/** Plots over time: a chunk of its own, loaded with the first one. */
import UPlot from 'uplot';
import { clockText } from './units.ts';
import { LABEL_ROWS, labelPlaces } from './plot_labels.ts';

/** One line of a plot; null for no value. */
export interface Series {
  readonly label: string;
  /** A custom property of the page, such as `--good`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Whether the area below it is filled. */
  readonly isFilled?: boolean;
}

/** What a plot shows besides its lines. */
export interface PlotForm {
  /** Writes a value of the vertical axis. */
  readonly format: (value: number) => string;
  /** Writes a place on the horizontal axis; times of day without it. */
  readonly across?: (at: number) => string;
  /** A stack has the sums of the lines below each line; `logarithmic` has a gap where a value is not above 0. */
  readonly form?: 'lines' | 'logarithmic' | 'stack' | 'bars';
  /** Named times, drawn as vertical lines. */
  readonly marks?: readonly { readonly at: number; readonly message: string }[];
}

export interface Plot {
  readonly setData: (seconds: readonly number[], series: readonly Series[]) => void;
  readonly destroy: () => void;
}

const HEIGHT_PX = 150;
/** Distances of times on the horizontal axis. */
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];

/** Draws lines over time, or over what `across` says. */
export function createPlot(
  parent: HTMLElement,
  seconds: readonly number[],
  series: readonly Series[],
  form: PlotForm,
): Plot {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let now = { seconds, series };
  let plot = drawn();
  const redraw = (): void => {
    plot.destroy();
    plot = drawn();
  };
  const observer = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height: HEIGHT_PX }));
  observer.observe(parent);
  dark.addEventListener('change', redraw);
  return {
    setData: (nextSeconds, nextSeries) => {
      now = { seconds: nextSeconds, series: nextSeries };
      plot.setData(dataOf(nextSeconds, nextSeries, form));
    },
    destroy: () => {
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    },
  };

  function drawn(): UPlot {
    const options = optionsOf(parent, now.series, form);
    return new UPlot(options, dataOf(now.seconds, now.series, form), parent);
  }
}

function dataOf(
  seconds: readonly number[],
  series: readonly Series[],
  { form }: PlotForm,
): UPlot.AlignedData {
  if (form === 'stack') return [[...seconds], ...sums(series)];
  const shown = (value: number | null): number | null =>
    form === 'logarithmic' && value !== null && value <= 0 ? null : value;
  return [[...seconds], ...series.map(({ values }) => values.map((value) => shown(value)))];
}

/** The sum of each line with all that follow: the first is the top of the stack, and is drawn first. */
function sums(series: readonly Series[]): number[][] {
  let below: number[] = [];
  return series
    .toReversed()
    .map(({ values }) => (below = values.map((value, at) => (value ?? 0) + (below[at] ?? 0))))
    .toReversed();
}

function optionsOf(
  parent: HTMLElement,
  series: readonly Series[],
  { format, across, form = 'lines', marks = [] }: PlotForm,
): UPlot.Options {
  // A canvas does not know custom properties; a probe computes them.
  const probe = parent.appendChild(document.createElement('span'));
  const colorOf = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: colorOf('--quiet'),
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
  };
  const ink = colorOf('--ink');
  const place = across ?? ((seconds: number) => clockText(seconds * 1000));
  const bars = form === 'bars' ? UPlot.paths.bars?.({ size: [0.9] }) : undefined;
  const options: UPlot.Options = {
    width: parent.clientWidth,
    height: HEIGHT_PX,
    // Half of the last time is to the right of its place.
    padding: [marks.length > 0 ? 8 + LABEL_ROWS * LABEL_PX : 8, 32, 0, 0],
    legend: { live: true },
    cursor: { y: false, points: { size: 6 } },
    scales: {
      x: { time: across === undefined },
      ...(form === 'logarithmic' && { y: { distr: 3 } }),
    },
    axes: [
      { ...axis, ...horizontal(across), values: (_plot, splits) => splits.map((each) => place(each)) },
      {
        ...axis,
        size: 60,
        // A logarithmic scale has more lines than there is room for words.
        values: (_plot, splits) => splits.map((each) => (each === null ? '' : format(each))),
      },
    ],
    series: [
      {
        label: across === undefined ? 'Time' : 'At',
        value: (_plot, value: number | null) => (value === null ? '–' : place(value)),
      },
      ...series.map(({ label, color, isFilled, values }) => ({
        label,
        stroke: colorOf(color),
        width: form === 'stack' ? 0 : 1.5,
        points: { show: false, ...(form === 'lines' && { size: 5, fill: colorOf(color), filter: alone }) },
        value: (_plot: UPlot, drawn: number | null, _series: number, at: number | null) => {
          // Of a stack the value itself, not the sum.
          const value = form === 'stack' && at !== null ? (values[at] ?? null) : drawn;
          return value === null ? '–' : format(value);
        },
        ...(isFilled === true && { fill: colorOf(`${color}-soft`) }),
        ...((form === 'stack' || form === 'bars') && { fill: colorOf(color) }),
        ...(bars !== undefined && { paths: bars }),
      })),
    ],
    ...(marks.length > 0 && { hooks: { draw: [(plot) => drawMarks(plot, marks, ink)] } }),
  };
  probe.remove();
  return options;
}

/** The places of values that no line reaches, because they have no neighbour; with little traffic this is every point. */
function alone({ data }: UPlot, series: number): number[] {
  const values = data[series]!;
  const has = (at: number): boolean => (values[at] ?? null) !== null;
  return Array.from(values.keys()).filter((at) => has(at) && !has(at - 1) && !has(at + 1));
}

/** Two places within a second would have the same time. */
const horizontal = (across: PlotForm['across']): UPlot.Axis => ({
  ...(across === undefined && { incrs: SECONDS }),
  space: 80,
  size: 32,
});

/** Height of a name of a mark. */
const LABEL_PX = 13;

/** Dashed lines with their names. */
function drawMarks(plot: UPlot, marks: NonNullable<PlotForm['marks']>, color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.font = `${11 * UPlot.pxRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.setLineDash([4 * UPlot.pxRatio, 3 * UPlot.pxRatio]);
  const sorted = marks.toSorted((one, other) => one.at - other.at);
  const labels = sorted.map(({ at, message }) => ({
    at: plot.valToPos(at, 'x', true),
    width: ctx.measureText(message).width,
  }));
  const places = labelPlaces(labels, ctx.canvas.width, 6 * UPlot.pxRatio);
  for (const [index, { at }] of labels.entries()) {
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    const place = places[index];
    if (place === null || place === undefined) continue;
    const above = (4 + place.row * LABEL_PX) * UPlot.pxRatio;
    ctx.fillText(sorted[index]!.message, place.left, bbox.top - above);
  }
  ctx.restore();
}
