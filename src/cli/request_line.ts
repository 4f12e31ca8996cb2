import type { Decision, Explanation, StreamExplanation, RequestSummary } from '../edge/explain.ts';
import type { TcpConnectionClosed } from '../events/catalogue.ts';
import { printable } from './terminal.ts';
import { painter } from '../diagnostics/render.ts';

/** One log line for a request: time, request, result, duration and reason. */
export function requestLine(summary: RequestSummary, at: Ended, style: LineStyle): string {
  const { method, host, target, status, decidedBy, lasting, truncated } = summary;
  const paint = painter(style);
  const note = truncated ? '  response truncated' : lasting === undefined ? '' : `  ${lasting} closed`;
  const isStopped = decidedBy.verdict === 'stop';
  return line({ ...summary, isStopped, note }, at, { ...style, paint }, [
    method.toUpperCase(),
    paint(toneOf(status), String(status === 0 ? '---' : status)),
    `${host}${printable(target).slice(0, TARGET_UNITS)}`,
    isStopped ? detailsOf(decidedBy.detail) : '',
  ]);
}

/** The line of a WebSocket or an event stream when it opens; its request line follows at its end. */
export function openedLine(explanation: Explanation, style: LineStyle): string {
  const { request, status, lasting = 'upgrade', startMs } = explanation;
  const paint = painter(style);
  const opened = { ...explanation, isStopped: false, note: `  ${lasting} open` };
  const target = printable(request.url.replace(/^\w+:\/\//, '').replace(/:\d+(?=\/)/, '')).slice(
    0,
    TARGET_UNITS,
  );
  return line(opened, { time: new Date(startMs), tookMs: null }, { ...style, paint }, [
    request.method.toUpperCase(),
    paint('green', String(status)),
    target,
    '',
  ]);
}

/** How lines are printed. */
interface LineStyle {
  readonly color: boolean;
  /** Replaces ids by names. */
  readonly named: (text: string) => string;
}

/** When an exchange or a connection ended, and how long it took. */
interface Ended {
  readonly time: Date;
  /** Null while it is open. */
  readonly tookMs: number | null;
}

/** What the lines of requests and connections have in common. */
function line(
  {
    decidedBy,
    backend,
    isStopped,
    note = '',
  }: Pick<Decision, 'decidedBy' | 'backend'> & {
    readonly isStopped: boolean;
    /** What follows the backend. */
    readonly note?: string;
  },
  { time, tookMs }: Ended,
  { paint, named }: LineStyle & { readonly paint: ReturnType<typeof painter> },
  [kind, status, subject, details]: readonly [string, string, string, string],
): string {
  const { code, detail, place } = decidedBy;
  const { rule } = detail;
  const why = `${code}${rule === undefined ? '' : ` ${named(String(rule))}`}${details}`;
  const at = isStopped && place !== null ? `  ${place.file}:${place.line}` : '';
  return [
    paint('dim', timeOfDay(time)),
    kind.padEnd(6),
    status,
    paint('dim', (tookMs === null ? 'open' : inMilliseconds(tookMs)).padStart(7)),
    isStopped ? paint('red', 'stop ') : paint('green', 'allow'),
    subject,
    paint('dim', (isStopped ? why : `→ ${named(backend ?? '-')}${note}`) + at),
  ].join('  ');
}

let lastSecond = Number.NaN;
let lastTime = '';

/** Local hours, minutes and seconds. Many requests end in one second, and its text takes a microsecond. */
function timeOfDay(time: Date): string {
  const second = Math.floor(time.getTime() / 1_000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastTime = time.toTimeString().slice(0, 8);
  }
  return lastTime;
}

const WHY_UNITS = 120;
const TARGET_UNITS = 200;

/** Details of a refusal beyond its code, such as the login check that failed. */
function detailsOf({ problem, detail, message }: Explanation['decidedBy']['detail']): string {
  const why = [problem, detail, message].find((fact) => typeof fact === 'string' && fact !== '');
  return why === undefined ? '' : `  (${printable(String(why)).slice(0, WHY_UNITS)})`;
}

function toneOf(status: number): 'red' | 'yellow' | 'green' {
  if (status >= 500 || status === 0) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** From here on, milliseconds say nothing. */
const SECONDS_FROM_MS = 100_000;

/** A duration for a log line, in whole milliseconds: the clock of an edge has no finer unit. Long ones are in seconds. */
export function inMilliseconds(tookMs: number): string {
  if (tookMs >= SECONDS_FROM_MS) return `${Math.round(tookMs / 1_000)} s`;
  return tookMs < 1 ? '<1 ms' : `${Math.round(tookMs)} ms`;
}

/** One log line for a connection of a TLS or TCP edge: time, place, duration, bytes and reason. */
export function connectionLine(
  explanation: StreamExplanation,
  { conn }: TcpConnectionClosed,
  at: Ended,
  style: LineStyle,
): string {
  const { connection, outcome } = explanation;
  const paint = painter(style);
  return line({ ...explanation, isStopped: outcome !== 'allowed' }, at, { ...style, paint }, [
    (connection.kind ?? 'conn').toUpperCase(),
    '---',
    `${connection.endpoint}  in ${conn.bytes_in} out ${conn.bytes_out}`,
    '',
  ]);
}
