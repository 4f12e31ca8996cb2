/** Plots over time: a chunk of its own, loaded with the first one. */
import UPlot from 'uplot';
import { clockText } from './units.ts';

/** One line of a plot; null for no value. */
export interface Series {
  readonly label: string;
  /** A custom property of the page, such as `--good`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Whether the area below it is filled. */
  readonly isFilled?: boolean;
}

export interface Plot {
  readonly setData: (seconds: readonly number[], series: readonly Series[]) => void;
  readonly destroy: () => void;
}

const HEIGHT_PX = 150;

/** Draws lines over time; `format` writes a value of the vertical axis. */
export function createPlot(
  parent: HTMLElement,
  seconds: readonly number[],
  series: readonly Series[],
  format: (value: number) => string,
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
      plot.setData(dataOf(nextSeconds, nextSeries));
    },
    destroy: () => {
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    },
  };

  function drawn(): UPlot {
    const options = optionsOf(parent, now.series, format);
    return new UPlot(options, dataOf(now.seconds, now.series), parent);
  }
}

function dataOf(seconds: readonly number[], series: readonly Series[]): UPlot.AlignedData {
  return [[...seconds], ...series.map(({ values }) => [...values])];
}

function optionsOf(
  parent: HTMLElement,
  series: readonly Series[],
  format: (value: number) => string,
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
  const options: UPlot.Options = {
    width: parent.clientWidth,
    height: HEIGHT_PX,
    padding: [8, 24, 0, 0],
    legend: { live: true },
    cursor: { y: false, points: { size: 6 } },
    axes: [
      {
        ...axis,
        values: (_plot, splits) => splits.map((each) => clockText(each * 1000)),
        space: 80,
        size: 32,
      },
      { ...axis, size: 60, values: (_plot, splits) => splits.map((each) => format(each)) },
    ],
    series: [
      {
        label: 'Time',
        value: (_plot, value: number | null) => (value === null ? '–' : clockText(value * 1000)),
      },
      ...series.map(({ label, color, isFilled }) => ({
        label,
        stroke: colorOf(color),
        width: 1.5,
        points: { show: false },
        value: (_plot: UPlot, value: number | null) => (value === null ? '–' : format(value)),
        ...(isFilled === true && { fill: colorOf(`${color}-soft`) }),
      })),
    ],
  };
  probe.remove();
  return options;
}
