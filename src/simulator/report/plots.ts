import { escapeHtml } from '../../http/ascii.ts';
import type { Bucket, Simulated } from '../simulation.ts';
import { type Axis, type Series, areaPlot, legend, linePlot, statePlot } from './charts.ts';
import { counted } from '../../diagnostics/message_text.ts';

const QUANTILES = [
  { name: 'p50', of: 0.5, color: '#3b82c4' },
  { name: 'p90', of: 0.9, color: '#e08a1e' },
  { name: 'p99', of: 0.99, color: '#c0392b' },
] as const;

/** Colours of statuses by class, with darker shades for statuses within a class. */
const STATUS_COLORS: Readonly<Record<string, readonly string[]>> = {
  '1': ['#8e9aa6'],
  '2': ['#2f9e6e', '#7cc9a6', '#1c6b49'],
  '3': ['#3b82c4', '#8fb8e0'],
  '4': ['#e0b01e', '#b3861a', '#f0d479'],
  '5': ['#c0392b', '#e58073', '#7d1f15', '#f0b3ab'],
  n: ['#8e9aa6'],
};
const DISTINCT = ['#2f9e6e', '#c0392b', '#e08a1e', '#3b82c4', '#8d5bb5', '#8e9aa6', '#b3861a', '#37a3a3'];

/** The state of a breaker, by its decision. */
const STATES = {
  allow: { name: 'closed', color: '#2f9e6e' },
  allow_while_open: { name: 'lets a probe through', color: '#e0b01e' },
  block: { name: 'open', color: '#c0392b' },
} as const;

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{max-width:64rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.35rem;margin:0}h2{font-size:1rem;margin:2rem 0 .2rem}
p{margin:.2rem 0}small,.legend{opacity:.8;font-size:.85rem}svg{width:100%;height:auto;display:block;overflow:visible}
svg text{font-size:11px;fill:currentColor;opacity:.75}svg .grid{stroke:currentColor;opacity:.13}
svg .change{stroke:currentColor;opacity:.55;stroke-dasharray:4 3}svg .said{opacity:1;font-weight:600}
.legend span{margin-right:1.1rem;white-space:nowrap}.legend i{display:inline-block;width:.7rem;height:.7rem;border-radius:.15rem;margin-right:.35rem}
.facts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0}.facts div{border:1px solid #8884;border-radius:.4rem;padding:.4rem .8rem}
.facts b{display:block;font-size:1.2rem;font-variant-numeric:tabular-nums}`;

/** A self-contained page with plots of a run: statuses, decisions, breaker and latency in virtual time. */
export function plotsPage(simulated: Simulated, title: string): string {
  const { buckets, latency, requests, durationMs, startMs, reasons, statuses } = simulated;
  const axis: Axis = { durationMs, changes: simulated.changes, stretches: buckets.length };
  const perSecond = durationMs / buckets.length / 1_000 || 1;
  const status = seriesOf(buckets, statuses, (bucket) => bucket.statuses, statusColors(statuses));
  const decided = seriesOf(buckets, reasons, (bucket) => bucket.reasons, distinctColors(reasons));
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p><small>from ${new Date(startMs).toISOString()}, ${durationMs / 1_000} s of virtual time</small></p>
${facts(simulated)}
<h2>Offered and served</h2><p><small>requests that arrived, and responses with a status below 500</small></p>${offeredPlot(simulated, axis, perSecond)}
<h2>Responses by status</h2>${legend(status)}${areaPlot(status, axis, { unit: '/s', per: perSecond })}
<h2>Decisions</h2><p><small>the code that stopped a request, or the outcome at its upstream</small></p>${legend(decided)}${areaPlot(decided, axis, { unit: '/s', per: perSecond })}
${breaker(buckets, axis)}
<h2>Latency</h2>${legend(QUANTILES.map(({ name, of, color }) => ({ name, color, total: `${latency.quantile(of).toFixed(1)} ms overall`, values: [] })))}${linePlot(
    QUANTILES.map(({ name, of, color }) => ({
      name,
      color,
      total: '',
      values: buckets.map((bucket) => (isEmpty(bucket) ? null : bucket.latency.quantile(of))),
    })),
    axis,
    { unit: ' ms', per: 1 },
  )}
<p><small>${counted(requests, 'request')}; each interval is ${(durationMs / buckets.length / 1_000).toPrecision(3)} s; dashed lines are scripted changes</small></p>
</body></html>
`;
}

function offeredPlot({ buckets, requests, servedLate }: Simulated, axis: Axis, perSecond: number): string {
  const served = buckets.reduce((sum, bucket) => sum + bucket.served, servedLate);
  const rate = (key: 'offered' | 'served') =>
    buckets.map((bucket) => (bucket[key] === 0 ? null : bucket[key] / perSecond));
  const series: Series[] = [
    { name: 'offered', color: '#3b82c4', total: requests.toLocaleString('en'), values: rate('offered') },
    { name: 'served', color: '#2f9e6e', total: served.toLocaleString('en'), values: rate('served') },
  ];
  return legend(series) + linePlot(series, axis, { unit: '/s', per: 1 });
}

function isEmpty({ statuses }: Bucket): boolean {
  return statuses.size === 0;
}

function facts({ requests, durationMs, statuses, latency }: Simulated): string {
  let failed = 0;
  for (const [status, count] of statuses) if (status === 'none' || status.startsWith('5')) failed += count;
  const figures: readonly (readonly [string, string])[] = [
    [requests.toLocaleString('en'), 'requests'],
    [`${((requests / durationMs) * 1_000).toFixed(1)}/s`, 'on average'],
    [`${((failed / Math.max(1, requests)) * 100).toFixed(2)} %`, '5xx or no response'],
    ...QUANTILES.map(({ name, of }) => [`${latency.quantile(of).toFixed(1)} ms`, name] as const),
  ];
  return `<div class="facts">${figures.map(([value, name]) => `<div><b>${value}</b><small>${name}</small></div>`).join('')}</div>`;
}

function seriesOf(
  buckets: readonly Bucket[],
  totals: ReadonlyMap<string, number>,
  of: (bucket: Bucket) => ReadonlyMap<string, number>,
  colors: ReadonlyMap<string, string>,
): Series[] {
  return [...totals.keys()].toSorted(byText).map((name) => ({
    name,
    color: colors.get(name)!,
    total: totals.get(name)!.toLocaleString('en'),
    values: buckets.map((bucket) => of(bucket).get(name) ?? 0),
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
      const shades = STATUS_COLORS[kind] ?? STATUS_COLORS['n']!;
      const at = taken.get(kind) ?? 0;
      taken.set(kind, at + 1);
      return [status, shades[at % shades.length]!];
    }),
  );
}

function distinctColors(totals: ReadonlyMap<string, number>): Map<string, string> {
  return new Map(
    [...totals.keys()].toSorted(byText).map((name, index) => {
      const isWell = name === 'upstream.answered';
      return [name, isWell ? DISTINCT[0]! : DISTINCT[1 + (index % (DISTINCT.length - 1))]!];
    }),
  );
}

/** The state of the breakers over time: of a bucket with several states the most important one. */
function breaker(buckets: readonly Bucket[], axis: Axis): string {
  if (buckets.every((bucket) => bucket.breaker.size === 0)) return '';
  const states = buckets.map(({ breaker: own }) => {
    const seen = (['block', 'allow_while_open', 'allow'] as const).find((state) => own.has(state));
    return seen === undefined
      ? null
      : { ...STATES[seen], message: [...own].map(([name, count]) => `${name} ${count}`).join(', ') };
  });
  const key = Object.values(STATES).map(({ name, color }) => ({ name, color, total: '', values: [] }));
  return `<h2>State of the circuit breaker</h2>${legend(key)}${statePlot(states, axis)}`;
}
