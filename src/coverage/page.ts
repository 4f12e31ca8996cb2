import { escapeHtml } from '../http/ascii.ts';
import { percentOf } from './measure.ts';
import { type PlacedPoint, placedPoints } from './lcov.ts';
import { type CoverageReport, leftOut, missedSentence, percentText, sentenceOf } from './report.ts';
import { type MeasuredPoint, isLeftOut } from './point.ts';
import { counted } from '../diagnostics/message_text.ts';

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:75rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}td,th{padding:.1rem .8rem .1rem 0;text-align:left}
pre{background:#8881;border-radius:.3rem;padding:.5rem 0;overflow:auto;line-height:1.45}.l{display:block;padding:0 .6rem}.n{display:inline-block;width:3.5rem;opacity:.5;user-select:none}
.full{background:#2a82}.part{background:#d902}.none{background:#c332}details{margin:0 0 0 3.5rem}summary{cursor:pointer;opacity:.8}ul{margin:.2rem 0}
.ok{color:#282}.bad{color:#c22}.dead{color:#777}meter{width:8rem}`;

/** A self-contained page with every edge: tables, and the source with marks. */
export function coveragePage(reports: readonly CoverageReport[], version: string): string {
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Coverage</title>
<style>${STYLE}</style></head><body>
<h1>Coverage of ${counted(reports.length, 'edge')}</h1><p><small>edgeproof ${escapeHtml(version)}</small></p>
${reports.map((report) => section(report)).join('\n')}
</body></html>
`;
}

function section(report: CoverageReport): string {
  const { name, coverage, missed } = report;
  const rows = coverage.tallies.map((tally) => {
    const percent = percentOf(tally);
    return `<tr><td>${tally.kind}</td><td><meter min="0" max="100" value="${percent}"></meter></td><td>${percentText(percent)} %</td><td>${tally.covered} of ${tally.possible}</td><td>${leftOut(tally)}</td></tr>`;
  });
  const gates = missed.map((each) => `<p class="bad">${escapeHtml(missedSentence(each))}</p>`);
  return `<section><h2>${escapeHtml(name)}</h2><p>${counted(coverage.requests, 'request')}</p><table>${rows.join('')}</table>${gates.join('')}${source(report)}</section>`;
}

/** The source file with the points of each line; only a list if there is no source. */
function source(report: CoverageReport): string {
  const { text, name, coverage } = report;
  if (text === null) return list(coverage.points, report);
  const byLine = new Map<number, PlacedPoint[]>();
  for (const placed of placedPoints(report).get(name) ?? []) {
    const own = byLine.get(placed.place.line) ?? [];
    own.push(placed);
    byLine.set(placed.place.line, own);
  }
  const lines = text.split('\n').map((line, index) => sourceLine(line, index + 1, byLine, report));
  const dead = coverage.points.filter(isLeftOut);
  const nowhere = coverage.points.filter((point) => !isLeftOut(point) && report.locate(point) === null);
  return `<pre>${lines.join('')}</pre>${titled('Left out', dead, report)}${titled('Without a place in the file', nowhere, report)}`;
}

function sourceLine(
  line: string,
  number: number,
  byLine: ReadonlyMap<number, readonly PlacedPoint[]>,
  report: CoverageReport,
): string {
  const points = (byLine.get(number) ?? []).map(({ point }) => point);
  const code = `<span class="n">${number}</span>${escapeHtml(line)}`;
  if (points.length === 0) return `<span class="l">${code}</span>`;
  const covered = points.filter(({ uncovered }) => uncovered === null).length;
  const mark = covered === points.length ? 'full' : covered === 0 ? 'none' : 'part';
  const note =
    covered === points.length
      ? ''
      : `<details><summary>${covered} of ${points.length}</summary>${list(points, report)}</details>`;
  return `<span class="l ${mark}" title="${covered} of ${points.length}">${code}${note}</span>`;
}

function titled(title: string, points: readonly MeasuredPoint[], report: CoverageReport): string {
  return points.length === 0 ? '' : `<h3>${title}</h3>${list(points, report)}`;
}

function list(points: readonly MeasuredPoint[], { offered }: CoverageReport): string {
  const items = points.map((point) => {
    const { id, kind, message, hits, uncovered } = point;
    const offer = offered.get(id);
    const state =
      uncovered === null
        ? `<span class="ok">${hits} ×</span>`
        : `<span class="${isLeftOut(point) ? 'dead' : 'bad'}">${escapeHtml(sentenceOf(uncovered))}</span>`;
    const tried = offer === undefined ? '' : `<br><code>${escapeHtml(offer)}</code>`;
    return `<li>${kind}: ${escapeHtml(message)} — ${state}${tried}</li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}
