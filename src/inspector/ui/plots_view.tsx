import { useMemo } from 'preact/hooks';
import type { Series } from '../../pages/plot.ts';
import { PlotView } from '../../pages/plot_view.tsx';
import { countText, durationText } from '../../pages/units.ts';
import type { SecondStats } from '../wire.ts';

interface Props {
  readonly seconds: readonly SecondStats[];
}

/** Requests by class of their status, and percentiles of latency, each second. */
export function PlotsView({ seconds: given }: Props) {
  const seconds = useMemo(() => withGaps(given), [given]);
  const times = seconds.map(({ atMs }) => atMs / 1000);
  const last = seconds.at(-1);
  return (
    <div class="plots">
      <figure class="card">
        <figcaption>Requests per second</figcaption>
        <PlotView
          label={last === undefined ? 'no requests' : `${last.requests} requests in the last second`}
          times={times}
          series={requestSeries(seconds)}
          form={COUNTS}
        />
      </figure>
      <figure class="card">
        <figcaption>Latency</figcaption>
        <PlotView
          label={
            last === undefined || last.p99Ms === null
              ? 'no latency'
              : `99 % took less than ${durationText(last.p99Ms)}`
          }
          times={times}
          series={latencySeries(seconds)}
          form={LATENCIES}
        />
      </figure>
    </div>
  );
}

/** Seconds in which nothing happened are not sent: a gap begins and ends with one that has nothing. */
function withGaps(seconds: readonly SecondStats[]): SecondStats[] {
  return seconds.flatMap((second, index) => {
    const before = seconds[index - 1];
    const gapMs = before === undefined ? 0 : second.atMs - before.atMs;
    if (gapMs < 2000) return [second];
    const last = emptySecond(second.atMs - 1000);
    return gapMs < 3000 ? [last, second] : [emptySecond(before!.atMs + 1000), last, second];
  });
}

const emptySecond = (atMs: number): SecondStats => ({
  atMs,
  requests: 0,
  classes: [0, 0, 0, 0, 0, 0],
  stops: 0,
  p50Ms: null,
  p90Ms: null,
  p99Ms: null,
  maxMs: null,
  requestBytes: 0,
  responseBytes: 0,
  open: 0,
});

const wholeText = (value: number): string => (Number.isInteger(value) ? countText(value) : value.toFixed(1));
const latencyText = (ms: number): string => (ms === 0 ? '0' : durationText(ms));

const COUNTS = { format: wholeText };
const LATENCIES = { format: latencyText };

function requestSeries(seconds: readonly SecondStats[]): Series[] {
  const of = (index: number) => seconds.map(({ classes }) => classes[index]!);
  return [
    { label: '2xx', color: '--good', values: of(2), isFilled: true },
    { label: '3xx', color: '--accent', values: of(3) },
    { label: '4xx', color: '--warn', values: of(4) },
    { label: '5xx', color: '--bad', values: of(5) },
  ];
}

function latencySeries(seconds: readonly SecondStats[]): Series[] {
  return [
    { label: 'p50', color: '--good', values: seconds.map(({ p50Ms }) => p50Ms) },
    { label: 'p90', color: '--accent', values: seconds.map(({ p90Ms }) => p90Ms) },
    { label: 'p99', color: '--warn', values: seconds.map(({ p99Ms }) => p99Ms) },
  ];
}
