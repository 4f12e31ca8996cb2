import type { Explanation, StreamExplanation } from '../edge/explain.ts';
import type { HttpRequestComplete, TcpConnectionClosed } from '../events/catalogue.ts';
import { printable } from './terminal.ts';
import { painter } from '../diagnostics/render.ts';

/** One log line for a request: time, request, result, duration and reason. */
export function requestLine(
  explanation: Explanation,
  event: HttpRequestComplete,
  at: Ended,
  color: boolean,
): string {
  const { status, because } = explanation;
  const { method, url } = event.http.request;
  const query = url.query === '' ? '' : `?${url.query}`;
  const paint = painter({ color });
  return line({ ...explanation, isStopped: because.verdict === 'stop' }, at, paint, [
    method.toUpperCase(),
    paint(toneOf(status), String(status === 0 ? '---' : status)),
    `${url.host}${printable(url.path + query).slice(0, TARGET_UNITS)}`,
    because.verdict === 'stop' ? detailsOf(because.detail) : '',
  ]);
}

/** When an exchange or a connection ended, and how long it took. */
interface Ended {
  readonly time: Date;
  readonly tookMs: number;
}

/** What the lines of requests and connections have in common. */
function line(
  {
    because,
    backend,
    isStopped,
  }: Pick<StreamExplanation, 'because' | 'backend'> & { readonly isStopped: boolean },
  { time, tookMs }: Ended,
  paint: ReturnType<typeof painter>,
  [kind, status, subject, details]: readonly [string, string, string, string],
): string {
  const { code, detail, place } = because;
  const { rule } = detail;
  const why = `${code}${rule === undefined ? '' : ` ${String(rule)}`}${details}`;
  const at = isStopped && place !== null ? `  ${place.file}:${place.line}` : '';
  return [
    paint('dim', time.toTimeString().slice(0, 8)),
    kind.padEnd(6),
    status,
    paint('dim', inMilliseconds(tookMs).padStart(7)),
    isStopped ? paint('red', 'stop ') : paint('green', 'allow'),
    subject,
    paint('dim', (isStopped ? why : `→ ${backend ?? '-'}`) + at),
  ].join('  ');
}

const WHY_UNITS = 120;
const TARGET_UNITS = 200;

/** Details of a refusal beyond its code, such as the login check that failed. */
function detailsOf({ problem, detail, message }: Explanation['because']['detail']): string {
  const why = [problem, detail, message].find((fact) => typeof fact === 'string' && fact !== '');
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

/** One log line for a connection of a TLS or TCP edge: time, place, duration, bytes and reason. */
export function connectionLine(
  explanation: StreamExplanation,
  { conn }: TcpConnectionClosed,
  at: Ended,
  color: boolean,
): string {
  const { connection, outcome } = explanation;
  return line({ ...explanation, isStopped: outcome !== 'allowed' }, at, painter({ color }), [
    (connection.kind ?? 'conn').toUpperCase(),
    '---',
    `${connection.endpoint}  in ${conn.bytes_in} out ${conn.bytes_out}`,
    '',
  ]);
}
