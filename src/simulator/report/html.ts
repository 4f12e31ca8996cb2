import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { escapeHtml } from '../../http/html.ts';
import type { CaseResult, FileResult } from '../result.ts';
import { failureLines, stepLine } from './failure.ts';
import type { Reporter } from './reporter.ts';

const STYLE = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1rem;margin:1.5rem 0 .3rem}pre{white-space:pre-wrap;margin:.3rem 0 .6rem;padding:.6rem;background:#8881;border-radius:.3rem}
ul{list-style:none;padding:0;margin:0}.failed{color:#c22}.passed{color:#282}.skipped{color:#a70}summary{cursor:pointer}small{opacity:.7}`;

/** One page with everything in it: no script, no style and no image from anywhere else. */
export function htmlReporter(): Reporter {
  return {
    finished: (files, summary, { version, seed }) => {
      const count = `${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped, ${summary.invalid} files not run`;
      const run = `edgeproof ${version}, ${Math.round(summary.tookMs)} ms, ${summary.requests} requests${seed === null ? '' : `, seed ${seed}`}`;
      return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${count}</title>
<style>${STYLE}</style></head><body>
<h1>${count}</h1><p><small>${escapeHtml(run)}</small></p>
${files.map((file) => section(file)).join('\n')}
</body></html>
`;
    },
  };
}

function section({ file, cases, diagnostics }: FileResult): string {
  const findings = diagnosticsToJson(diagnostics).map(
    ({ severity, says, range }) =>
      `<li class="${severity === 'error' ? 'failed' : 'skipped'}">${severity}: ${escapeHtml(says)}${range === null ? '' : ` <small>line ${range.start.line}</small>`}</li>`,
  );
  return `<section><h2>${escapeHtml(file)}</h2><ul>${findings.join('')}${cases.map((each) => item(each)).join('')}</ul></section>`;
}

function item(result: CaseResult): string {
  const { status, name, tags } = result;
  const head = `<span class="${status}">${status}</span> ${escapeHtml(name)} <small>${escapeHtml(tags.join(' '))}</small>`;
  if (status !== 'failed') return `<li>${head}</li>`;
  const steps = (result.explained?.steps ?? []).map((step) => stepLine(step));
  const why = escapeHtml(failureLines(result).join('\n'));
  const trace = steps.length === 0 ? '' : `<pre>${escapeHtml(steps.join('\n'))}</pre>`;
  return `<li><details open><summary>${head}</summary><pre>${why}</pre>${trace}</details></li>`;
}
