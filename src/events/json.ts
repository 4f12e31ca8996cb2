import type { HttpRequestCompleteEvent, TcpConnectionClosedEvent } from './catalogue.ts';
import { httpRequestCompleteJson, tcpConnectionClosedJson } from './object_json.ts';

/**
 * The JSON text of an event, identical to that of `JSON.stringify`. Writing known members takes less
 * than half of its time, and texts of our own need no escaping.
 */
export function eventJson(event: HttpRequestCompleteEvent | TcpConnectionClosedEvent): string {
  const object =
    event.event_type === 'http_request_complete.v0'
      ? httpRequestCompleteJson(event.object)
      : tcpConnectionClosedJson(event.object);
  return (
    `{"event_id":"${event.event_id}","event_type":"${event.event_type}"` +
    `,"event_timestamp":"${event.event_timestamp}","object":${object}}`
  );
}
