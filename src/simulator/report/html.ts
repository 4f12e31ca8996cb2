import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { escapeHtml } from '../../http/ascii.ts';
import { type CaseResult, type FileResult, type LocatedMismatch, rerunCommand } from '../result.ts';
import { failureLines } from './failure.ts';
import type { Reporter } from './reporter.ts';
import { counted } from '../../diagnostics/message_text.ts';

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif;--bad:#c22;--good:#287f4f;--odd:#a66b00}
@media(prefers-color-scheme:dark){:root{--bad:#ff7b72;--good:#56d38c;--odd:#e3b341}}
body{max-width:64rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.35rem;margin:0}h2{font-size:1rem;margin:0;display:inline}
.bar{display:flex;height:.5rem;border-radius:.25rem;overflow:hidden;margin:.8rem 0}.bar i{display:block}
.counts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0 .4rem}.counts div{border:1px solid #8884;border-radius:.4rem;padding:.3rem .8rem}
.counts b{font-size:1.2rem;font-variant-numeric:tabular-nums}
.failed{color:var(--bad)}.passed{color:var(--good)}.skipped{color:var(--odd)}small{opacity:.75}summary{cursor:pointer}
section{margin:1.2rem 0;border-top:1px solid #8884;padding-top:.7rem}ul{list-style:none;padding:0;margin:.4rem 0 0 1rem}li{margin:.15rem 0}
pre,code{font:13px/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;margin:.4rem 0;padding:.6rem;background:#8881;border-radius:.3rem}
.why{border-left:3px solid var(--bad);padding:.1rem 0 .3rem .8rem;margin:.3rem 0 .8rem .3rem}
table{border-collapse:collapse;margin:.4rem 0}td,th{text-align:left;vertical-align:top;padding:.1rem 1rem .1rem 0;font-weight:400}
th{opacity:.7}td code{white-space:pre-wrap}.decided td{font-weight:600}
.show{margin-right:1rem}#failed:checked~main li.is-passed,#failed:checked~main li.is-skipped,#failed:checked~main section.is-well{display:none}`;

/** A self-contained page without scripts. */
export function htmlReporter(): Reporter {
  return {
    finished: (files, summary, { version, seed }) => {
      const { passed, failed, skipped, invalid } = summary;
      const count = `${passed} passed, ${failed} failed, ${skipped} skipped, ${counted(invalid, 'file')} not run`;
      const run = `edgeproof ${version}, ${Math.round(summary.tookMs)} ms, ${counted(summary.requests, 'request')}, ${counted(files.length, 'file')}${seed === null ? '' : `, seed ${seed}`}`;
      const counts = [
        [passed, 'passed', 'passed'],
        [failed, 'failed', 'failed'],
        [skipped, 'skipped', 'skipped'],
        [invalid, 'failed', invalid === 1 ? 'file not run' : 'files not run'],
      ] as const;
      return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${count}</title>
<style>${STYLE}</style></head><body>
<h1 class="${failed + invalid > 0 ? 'failed' : 'passed'}">${failed + invalid > 0 ? 'Failed' : 'Passed'}</h1>
<div class="counts">${counts.map(([number, kind, message]) => `<div><b class="${number > 0 ? kind : ''}">${number}</b> ${message}</div>`).join('')}</div>
${bar(counts)}<p><small>${escapeHtml(run)}</small></p>
<input type="radio" name="show" id="all" checked><label class="show" for="all"> all</label><input type="radio" name="show" id="failed"><label class="show" for="failed"> only failures</label>
<main>
${files.map((file) => section(file)).join('\n')}
</main></body></html>
`;
    },
  };
}

function bar(counts: readonly (readonly [number, string, string])[]): string {
  const colors = { passed: 'var(--good)', failed: 'var(--bad)', skipped: 'var(--odd)' };
  const parts = counts.map(
    ([number, kind]) => `<i style="flex:${number};background:${colors[kind as keyof typeof colors]}"></i>`,
  );
  return `<div class="bar">${parts.join('')}</div>`;
}

function section({ file, cases, diagnostics }: FileResult): string {
  const findings = diagnosticsToJson(diagnostics);
  const bad = cases.filter(({ status }) => status === 'failed').length;
  const isWell = bad === 0 && !findings.some(({ severity }) => severity === 'error');
  const sum = [
    counted(cases.length, 'case'),
    ...(bad > 0 ? [`<span class="failed">${bad} failed</span>`] : []),
  ].join(', ');
  const counts = findings.map(({ severity, message, code, range, hint, notes, file: at }) => {
    const place =
      range === null
        ? ''
        : ` <code>${escapeHtml(`${at ?? file}:${range.start.line}:${range.start.column}`)}</code>`;
    const more = [hint, ...notes]
      .filter((each) => each !== null)
      .map((each) => `<br><small>${escapeHtml(each)}</small>`);
    return `<li><span class="${severity === 'error' ? 'failed' : 'skipped'}">${severity}</span> ${escapeHtml(message)}${place} <small>${escapeHtml(code)}</small>${more.join('')}</li>`;
  });
  return `<section class="${isWell ? 'is-well' : ''}"><details open><summary><h2>${escapeHtml(file)}</h2> <small>${sum}</small></summary><ul>${counts.join('')}${cases.map((each) => item(each)).join('')}</ul></details></section>`;
}

function item(result: CaseResult): string {
  const { status, name, tags, tookMs, skipped } = result;
  const note = [...tags.map((tag) => `@${tag}`), ...(skipped === null ? [] : [skipped])].join(' ');
  const took = status === 'skipped' ? '' : `${tookMs.toFixed(1)} ms`;
  const head = `<span class="${status}">${status}</span> ${escapeHtml(name)} <small>${escapeHtml(note)} ${took}</small>`;
  if (status !== 'failed') return `<li class="is-${status}">${head}</li>`;
  return `<li class="is-failed"><details open><summary>${head}</summary><div class="why">${why(result)}</div></details></li>`;
}

/** Expected and received values, the request step by step, and the command to run it again. */
function why(result: CaseResult): string {
  const { mismatches, explained, near } = result;
  const differs = mismatches.map((each) => mismatchRows(each, result.file)).join('');
  const steps = (explained?.steps ?? []).map((step) => {
    const isDeciding = step.code === explained!.because.code && step.phase === explained!.because.phase;
    const { place } = step;
    const at = place === null ? '' : `${place.file}:${place.line}:${place.column}`;
    const cells = [
      step.verdict === 'stop' ? '■ stop' : 'pass',
      step.module,
      `${step.message} (${step.code})`,
      at,
    ];
    return `<tr class="${isDeciding ? 'decided' : ''}">${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  const counts =
    explained === null
      ? ''
      : `<p><code>${escapeHtml(explained.request)}</code></p><table>${steps.join('')}</table>`;
  const nearest = near === null ? '' : `<p>nearest: ${escapeHtml(near)}</p>`;
  return `<table>${differs}</table>${counts}${nearest}<p><small>run again</small> <code>${escapeHtml(rerunCommand(result))}</code></p><details><summary><small>all details</small></summary><pre>${escapeHtml(failureLines(result).join('\n'))}</pre></details>`;
}

function mismatchRows({ what, expected, received, line, near }: LocatedMismatch, file: string): string {
  const place = line > 0 ? ` <small>${escapeHtml(`${file}:${line}`)}</small>` : '';
  const rows = [
    ['expected', expected, 'passed'],
    ['received', received, 'failed'],
    ...(near === undefined ? [] : [['', near, '']]),
  ] as const;
  return `<tr><th colspan="2"><b>${escapeHtml(what)}</b>${place}</th></tr>${rows.map(([name, text, kind]) => `<tr><th>${name}</th><td><code class="${kind}">${escapeHtml(text)}</code></td></tr>`).join('')}`;
}
