import type { Explanation } from '../edge/explain.ts';
import type { HttpRequestComplete } from '../events/catalogue.ts';
import { printable } from './terminal.ts';
import { painter } from '../diagnostics/render.ts';

/** One log line for a request: time, request, result, duration and reason. */
export function requestLine(
  explanation: Explanation,
  event: HttpRequestComplete,
  at: { readonly time: Date; readonly tookMs: number },
  color: boolean,
): string {
  const paint = painter({ color });
  const { status, because, backend } = explanation;
  const { method, url } = event.http.request;
  const query = url.query === '' ? '' : `?${url.query}`;
  const verdict = because.verdict === 'stop' ? paint('red', 'stop ') : paint('green', 'allow');
  const rule = because.detail['rule'];
  const reason =
    because.verdict === 'pass'
      ? `→ ${backend ?? '-'}`
      : `${because.code}${rule === undefined ? '' : ` ${String(rule)}`}${detailsOf(because.detail)}`;
  const place =
    because.verdict === 'stop' && because.place !== null
      ? `  ${because.place.file}:${because.place.line}`
      : '';
  return [
    paint('dim', at.time.toTimeString().slice(0, 8)),
    method.toUpperCase().padEnd(6),
    paint(toneOf(status), String(status === 0 ? '---' : status)),
    paint('dim', inMilliseconds(at.tookMs).padStart(7)),
    verdict,
    `${url.host}${printable(url.path + query).slice(0, TARGET_UNITS)}`,
    paint('dim', reason + place),
  ].join('  ');
}

const WHY_UNITS = 120;
const TARGET_UNITS = 200;

/** Details of a refusal beyond its code, such as the login check that failed. */
function detailsOf({ problem, detail, says }: Explanation['because']['detail']): string {
  const why = [problem, detail, says].find((fact) => typeof fact === 'string' && fact !== '');
  return why === undefined ? '' : `  (${printable(String(why)).slice(0, WHY_UNITS)})`;
}

function toneOf(status: number): 'red' | 'yellow' | 'green' {
  if (status >= 500 || status === 0) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** A duration for a log line, in whole milliseconds: the clock of an edge has no finer unit. */
export function inMilliseconds(tookMs: number): string {
  return tookMs < 1 ? '<1 ms' : `${Math.round(tookMs)} ms`;
}
