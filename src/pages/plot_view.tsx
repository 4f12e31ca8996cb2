import { useEffect, useRef } from 'preact/hooks';
import type { Plot, PlotForm, Series } from './plot.ts';

interface Props {
  /** Text for screen readers. */
  readonly label: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** The same object each time: another one draws a new plot. */
  readonly form: PlotForm;
}

/** A plot, whose code is loaded when the first one is shown. */
export function PlotView({ label, times, series, form }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef({ times, series });
  latest.current = { times, series };
  useEffect(() => {
    let isGone = false;
    const draw = async (): Promise<void> => {
      const { createPlot } = await import('./plot.ts');
      if (!isGone)
        plot.current = createPlot(place.current!, latest.current.times, latest.current.series, form);
    };
    void draw();
    return () => {
      isGone = true;
      plot.current?.destroy();
    };
  }, [form]);
  useEffect(() => plot.current?.setData(times, series), [times, series]);
  return <div class="plot" role="img" aria-label={label} ref={place} />;
}
