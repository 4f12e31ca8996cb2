import type { StreamExplanation } from '../edge/explain.ts';
import type { TcpConnectionClosed } from '../events/catalogue.ts';
import { inMilliseconds } from './request_line.ts';
import { painter } from '../diagnostics/render.ts';

/** One log line for a connection of a TLS or TCP edge: time, place, duration, bytes and reason. */
export function connectionLine(
  { connection, outcome, backend, because }: StreamExplanation,
  { conn }: TcpConnectionClosed,
  at: { readonly time: Date; readonly tookMs: number },
  color: boolean,
): string {
  const paint = painter({ color });
  const rule = because.detail['rule'];
  const reason =
    outcome === 'allowed'
      ? `→ ${backend ?? '-'}`
      : `${because.code}${rule === undefined ? '' : ` ${String(rule)}`}`;
  const place =
    outcome === 'denied' && because.place !== null ? `  ${because.place.file}:${because.place.line}` : '';
  return [
    paint('dim', at.time.toTimeString().slice(0, 8)),
    (connection.kind ?? 'conn').toUpperCase().padEnd(6),
    '---',
    paint('dim', inMilliseconds(at.tookMs).padStart(7)),
    outcome === 'allowed' ? paint('green', 'allow') : paint('red', 'stop '),
    `${connection.endpoint}  in ${conn.bytes_in} out ${conn.bytes_out}`,
    paint('dim', reason + place),
  ].join('  ');
}
