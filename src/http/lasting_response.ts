import { firstValue, hasField } from './fields.ts';
import type { ResponseHead } from './heads.ts';

/** A response that lasts as long as its connection: a client that has it is not waiting for its end. */
export type Lasting = 'WebSocket' | 'upgrade' | 'event stream';

/** The kind of a response that lasts; null for any other. */
export function lastingKind({ status, headers }: ResponseHead): Lasting | null {
  // `Upgrade` belongs to the hop; this field is in every acceptance of a WebSocket (RFC 6455 §4.2.2).
  if (status === 101) return hasField(headers, 'sec-websocket-accept') ? 'WebSocket' : 'upgrade';
  return isEventStream(headers) ? 'event stream' : null;
}

/** Whether the content is a stream of server-sent events (HTML Standard, section 9.2). */
export function isEventStream(headers: ResponseHead['headers']): boolean {
  return /^text\/event-stream\b/i.test(firstValue(headers, 'content-type') ?? '');
}
