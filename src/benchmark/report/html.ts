import { escapeHtml } from '../../http/ascii.ts';
import type { BenchResult, ResultRow } from '../result.ts';
import { durationText } from './numbers.ts';
import { prettyReport } from './pretty.ts';

const WIDTH = 900;
const HEIGHT = 200;
const STYLE =
  ':root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}svg{width:100%;background:#8881}text{font-size:12px;fill:currentColor}pre{overflow:auto}';

/**
 * One self-contained page with the tables and a plot for each row: its slices over time, and their
 * distribution.
 */
export function htmlReport(result: BenchResult): string {
  const title = escapeHtml(`${result.file}: benchmark`);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head><body>
<h1>${title}</h1>
<pre>${escapeHtml(prettyReport(result))}</pre>
${result.rows.map((row) => section(row)).join('\n')}
</body></html>
`;
}

function section(row: ResultRow): string {
  return `<h2>${escapeHtml(row.name)}</h2>
<h3>Slices in order of measurement</h3>${overTime(row.samples)}
<h3>Distribution</h3>${distribution(row.samples)}`;
}

function overTime(samples: readonly number[]): string {
  const most = Math.max(...samples);
  const points = samples.map(
    (ns, at) => `${fixed(((at + 0.5) / samples.length) * WIDTH)},${fixed(HEIGHT - (ns / most) * HEIGHT)}`,
  );
  const line = `<polyline fill="none" stroke="#48c" points="${points.join(' ')}"/>`;
  return svg(line, `from 0 to ${durationText(most)}`);
}

const BARS = 60;

/** The bars leave out values above the 99th percentile: one outlier would squeeze all others. */
function distribution(samples: readonly number[]): string {
  const sorted = samples.toSorted((one, other) => one - other);
  const low = sorted[0]!;
  const high = sorted[Math.floor((sorted.length - 1) * 0.99)]!;
  const step = (high - low) / BARS || 1;
  const counts = Array.from({ length: BARS }, () => 0);
  for (const ns of sorted) if (ns <= high) counts[Math.min(BARS - 1, Math.floor((ns - low) / step))]!++;
  const most = Math.max(...counts);
  const wide = WIDTH / BARS;
  const bars = counts.map((count, at) => {
    const tall = (count / most) * HEIGHT;
    return `<rect x="${fixed(at * wide)}" y="${fixed(HEIGHT - tall)}" width="${fixed(wide - 1)}" height="${fixed(tall)}" fill="#2a8"/>`;
  });
  return svg(bars.join(''), `from ${durationText(low)} to ${durationText(high)}`);
}

function svg(content: string, note: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT + 20}" role="img">${content}<text x="4" y="${HEIGHT + 15}">${escapeHtml(note)}</text></svg>`;
}

function fixed(value: number): string {
  return value.toFixed(1);
}
