import type { EventObject, TrafficType } from './fields.ts';
import type { IdMaker } from './identifiers.ts';
import { timestamp } from './timestamps.ts';

export type HttpRequestComplete = EventObject<'http_request_complete.v0'>;
export type TcpConnectionClosed = EventObject<'tcp_connection_closed.v0'>;

/** A delivered event. */
export interface EventEnvelope<Type extends string = string, Body = unknown> {
  /** `ev_` and 27 lower-case letters and digits, sortable by time. */
  readonly event_id: string;
  readonly event_type: Type;
  /** RFC 3339. */
  readonly event_timestamp: string;
  readonly object: Body;
}

export type HttpRequestCompleteEvent = EventEnvelope<'http_request_complete.v0', HttpRequestComplete>;
export type TcpConnectionClosedEvent = EventEnvelope<'tcp_connection_closed.v0', TcpConnectionClosed>;

/** A traffic event in its envelope. */
export function trafficEvent<Type extends TrafficType, Body>(
  type: Type,
  object: Body,
  endMs: number,
  newId: IdMaker,
): EventEnvelope<Type, Body> {
  return { event_id: newId(endMs), event_type: type, event_timestamp: timestamp(endMs), object };
}
