import type { Bucket, Simulated } from '../simulation.ts';
import { escapeHtml } from '../../http/html.ts';

const WIDTH = 900;
const HEIGHT = 220;
const COLORS: Readonly<Record<string, string>> = {
  '2': '#2a8',
  '3': '#48c',
  '4': '#d90',
  '5': '#c33',
  n: '#888',
  allow: '#2a8',
  block: '#c33',
  allow_while_open: '#d90',
};
const STYLE =
  ':root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}svg{width:100%;background:#8881}text{font-size:12px;fill:currentColor}td{padding:0 1rem 0 0}';

/** One page with plots of a run: decisions, breaker and latency over virtual time. It needs nothing from elsewhere. */
export function plotsPage(simulated: Simulated, title: string): string {
  const { buckets, latency } = simulated;
  const quantiles = [0.5, 0.9, 0.99];
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p>${simulated.requests} requests over ${simulated.durationMs / 1_000} s of virtual time from ${new Date(simulated.startMs).toISOString()}</p>
<h2>Responses by status</h2>${stacked(buckets, (bucket) => bucket.statuses)}
<h2>Decisions of the circuit breaker</h2>${stacked(buckets, (bucket) => bucket.breaker)}
<h2>Latency: ${quantiles.map((each) => `p${each * 100} ${latency.quantile(each).toFixed(1)} ms`).join(', ')}</h2>${lines(
    buckets,
    quantiles,
  )}
</body></html>
`;
}

function stacked(buckets: readonly Bucket[], of: (bucket: Bucket) => ReadonlyMap<string, number>): string {
  const names = [...new Set(buckets.flatMap((bucket) => [...of(bucket).keys()]))].sort();
  if (names.length === 0) return '<p>none</p>';
  const most = Math.max(1, ...buckets.map((bucket) => sum(of(bucket))));
  const wide = WIDTH / buckets.length;
  const bars = buckets.flatMap((bucket, index) => {
    let below = 0;
    return names.flatMap((name) => {
      const count = of(bucket).get(name) ?? 0;
      if (count === 0) return [];
      const high = (count / most) * HEIGHT;
      below += high;
      return `<rect x="${fixed(index * wide)}" y="${fixed(HEIGHT - below)}" width="${fixed(wide)}" height="${fixed(high)}" fill="${colorOf(name)}"><title>${escapeHtml(name)} ${count}</title></rect>`;
    });
  });
  return svg(bars, names, `${most} in a stretch at most`);
}

function lines(buckets: readonly Bucket[], quantiles: readonly number[]): string {
  const most = Math.max(1, ...buckets.map(({ latency }) => latency.quantile(quantiles.at(-1)!)));
  const wide = WIDTH / buckets.length;
  const paths = quantiles.map((each, line) => {
    const points = buckets.map(
      ({ latency }, index) =>
        `${fixed((index + 0.5) * wide)},${fixed(HEIGHT - (latency.quantile(each) / most) * HEIGHT)}`,
    );
    return `<polyline fill="none" stroke="${['#48c', '#d90', '#c33'][line]}" points="${points.join(' ')}"/>`;
  });
  const names = quantiles.map((each) => `p${each * 100}`);
  return svg(paths, names, `${most.toFixed(1)} ms at most`);
}

function svg(content: readonly string[], names: readonly string[], note: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT + 20}" role="img">${content.join('')}<text x="4" y="${HEIGHT + 15}">${escapeHtml(`${names.join(', ')}; ${note}`)}</text></svg>`;
}

function colorOf(name: string): string {
  return COLORS[name] ?? COLORS[name[0]!] ?? '#888';
}

function sum(counts: ReadonlyMap<string, number>): number {
  let all = 0;
  for (const count of counts.values()) all += count;
  return all;
}

function fixed(value: number): string {
  return value.toFixed(2);
}
