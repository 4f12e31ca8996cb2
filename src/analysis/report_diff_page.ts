import { escapeHtml } from '../http/ascii.ts';
import { CHANGES, type ChangedRegion, type Comparison, type UndecidedRegion } from './comparison.ts';
import { blameText, circumstances, conclusion, curlOf, deciders, resultOf, sizeText } from './report_diff.ts';
import type { DiffNames } from './report_diff_sarif.ts';

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif;--bad:#c22;--good:#287f4f;--odd:#a66b00}
@media(prefers-color-scheme:dark){:root{--bad:#ff7b72;--good:#56d38c;--odd:#e3b341}}
body{max-width:64rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.35rem}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}
section{border-top:1px solid #8884;padding:.6rem 0}h3{font-size:1rem;margin:0}.OPENED{color:var(--bad)}.CLOSED,.REROUTED,.CHANGED,.UNDECIDED{color:var(--odd)}
.same{color:var(--good)}table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0;font-weight:400}th{opacity:.7}
code{font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}small{opacity:.75}`;

/** A comparison as one page without scripts, which loads nothing. */
export function diffPage(comparison: Comparison, { before, after, version }: DiffNames): string {
  const { changes, undecided, verdict } = comparison;
  const groups = CHANGES.flatMap((change) => {
    const own = changes.filter((region) => region.change === change);
    if (own.length === 0) return [];
    return [`<h2 class="${change}">${change}</h2>${own.map(regionOf).join('')}`];
  });
  const open =
    undecided.length === 0 ? [] : ['<h2 class="UNDECIDED">UNDECIDED</h2>', ...undecided.map(openOf)];
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${escapeHtml(`${before} → ${after}`)}</title>
<style>${STYLE}</style></head><body>
<h1${verdict === 'equivalent' ? ' class="same"' : ''}>${escapeHtml(conclusion(comparison))}</h1>
<p><code>${escapeHtml(before)}</code> → <code>${escapeHtml(after)}</code> <small>edgeproof ${escapeHtml(version)}</small></p>
${[...groups, ...open].join('\n')}
</body></html>
`;
}

function regionOf(region: ChangedRegion): string {
  const { where, conditions, size, differs, witness, replayed, blame } = region;
  const rows: (readonly [string, string])[] = [
    ['before', resultOf(replayed.before)],
    ['after', resultOf(replayed.after)],
    ...conditions.map((condition, at) => [at === 0 ? 'where' : 'and', condition] as const),
    ['size', sizeText(size)],
    ...differs.map((each) => ['differs', each] as const),
    ...(blame === undefined ? [] : [['because', blameText(blame)] as const]),
    ...deciders(region),
    ['try', `${curlOf(witness)}   from ${witness.clientIp}${circumstances(witness)}`],
  ];
  return sectionOf(where, rows);
}

function openOf({ where, conditions, because }: UndecidedRegion): string {
  return sectionOf(where, [
    ...conditions.map((condition, at) => [at === 0 ? 'where' : 'and', condition] as const),
    ...because.map((each) => ['because', each] as const),
  ]);
}

function sectionOf(title: string, rows: readonly (readonly [string, string])[]): string {
  const cells = rows.map(
    ([label, text]) => `<tr><th>${label}</th><td><code>${escapeHtml(text)}</code></td></tr>`,
  );
  return `<section><h3><code>${escapeHtml(title)}</code></h3><table>${cells.join('')}</table></section>`;
}
