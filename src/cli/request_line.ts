import { styleText } from 'node:util';
import type { Explanation } from '../edge/explain.ts';
import type { HttpRequestComplete } from '../events/catalogue.ts';
import { inMilliseconds } from './milliseconds.ts';

type Style = Parameters<typeof styleText>[0];

/** One log line for a request: time, request, result, duration and reason. */
export function requestLine(
  explanation: Explanation,
  event: HttpRequestComplete,
  at: { readonly time: Date; readonly tookMs: number },
  color: boolean,
): string {
  const paint = (style: Style, text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
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
    `${url.host}${printable(url.path + query)}`,
    paint('dim', reason + place),
  ].join('  ');
}

const WHY_UNITS = 120;

/** Details of a refusal beyond its code, such as the login check that failed. */
function detailsOf({ problem, detail, says }: Explanation['because']['detail']): string {
  const why = [problem, detail, says].find((fact) => typeof fact === 'string' && fact !== '');
  return why === undefined ? '' : `  (${printable(String(why)).slice(0, WHY_UNITS)})`;
}

function toneOf(status: number): Style {
  if (status >= 500 || status === 0) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** The path is client input, so control characters that steer a terminal are escaped. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?').slice(0, 200);
}
