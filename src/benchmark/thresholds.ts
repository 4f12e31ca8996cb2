import { suggest } from '../diagnostics/suggest.ts';
import { durationText } from './report/numbers.ts';
import type { ResultRow } from './result.ts';

/** A required limit, such as `p99<50us`. */
export interface Threshold {
  readonly text: string;
  /** Null if the measurement does not have the metric. */
  readonly holds: (measured: Measured) => boolean | null;
  /** The measured value, for the message. */
  readonly found: (measured: Measured) => string;
}

/** The input of thresholds: a row of decisions, or a load run, which has fewer metrics. */
export type Measured = Pick<ResultRow, 'latency' | 'opsPerSecond'> &
  Partial<Pick<ResultRow, 'nsPerOp' | 'bytesPerOp' | 'gcShare'>>;

type Metric = (measured: Measured) => number | undefined;

// table: metrics of thresholds; times in ns
const METRICS: Readonly<Record<string, Metric>> = {
  mean: ({ nsPerOp }) => nsPerOp?.value,
  ns: ({ nsPerOp }) => nsPerOp?.value,
  ops: ({ opsPerSecond }) => opsPerSecond,
  p50: ({ latency }) => latency.p50,
  p90: ({ latency }) => latency.p90,
  p99: ({ latency }) => latency.p99,
  'p99.9': ({ latency }) => latency.p999,
  max: ({ latency }) => latency.max,
  bytes: ({ bytesPerOp }) => bytesPerOp,
  gc: ({ gcShare }) => gcShare,
};
// table: units of thresholds, as factors
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  k: 1e3,
  M: 1e6,
  '%': 0.01,
};
const FORM = /^([a-z]+\d*(?:\.\d+)?)\s*(<=|>=|<|>)\s*(\d+(?:\.\d+)?)([a-zµ%]*)$/i;

/** Parses a threshold: metric, comparison, number and unit. */
export function readThreshold(text: string): Threshold | { readonly problem: string } {
  const parts = FORM.exec(text.trim());
  if (parts === null) return { problem: `'${text}' is not a threshold such as p99<50us or ops>500k` };
  const [, name, operator, number, unit] = parts;
  const metric = Object.hasOwn(METRICS, name!) ? METRICS[name!] : undefined;
  if (metric === undefined) {
    const meant = suggest(name!, Object.keys(METRICS));
    const hint = meant === undefined ? Object.keys(METRICS).join(', ') : `did you mean '${meant}'?`;
    return { problem: `'${name!}' in '${text}' is not a metric: ${hint}` };
  }
  const factor = Object.hasOwn(UNITS, unit!) ? UNITS[unit!] : undefined;
  if (factor === undefined) {
    return { problem: `'${unit!}' in '${text}' is not a unit: ${Object.keys(UNITS).join(' ').trim()}` };
  }
  const limit = Number(number) * factor;
  const holds = (measured: Measured): boolean | null => {
    const value = metric(measured);
    if (value === undefined) return null;
    if (operator === '<') return value < limit;
    if (operator === '<=') return value <= limit;
    return operator === '>' ? value > limit : value >= limit;
  };
  return { text: text.trim(), holds, found: (measured) => foundText(name!, metric(measured) ?? 0) };
}

function foundText(metric: string, value: number): string {
  if (metric === 'ops') return `${Math.round(value)} a second`;
  if (metric === 'bytes') return `${Math.round(value)} B`;
  return metric === 'gc' ? `${(value * 100).toFixed(1)} %` : durationText(value);
}
