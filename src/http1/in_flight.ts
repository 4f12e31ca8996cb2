import type { WireRequest } from './request_head.ts';
import type { Http1Body } from './server_body.ts';
import type { Http1Sink } from './server_sink.ts';
import type { ConnectionFacts, RawRequest } from '../engine/drivers/exchange_port.ts';

/** A request in flight. */
export interface InFlight {
  readonly body: Http1Body;
  readonly sink: Http1Sink;
  readonly head: WireRequest;
  /** It may upgrade the connection. */
  readonly upgradable: boolean;
  /** The driver is done with it; at most the rest of its body is unread. */
  isAnswered: boolean;
}

/** The request as it is passed to the driver. */
export function rawRequest(head: WireRequest, connection: ConnectionFacts): RawRequest {
  const { method, target, version, headers } = head;
  const scheme = connection.tls === null ? 'http' : 'https';
  return { head: { method, target, version, scheme, headers }, connection };
}
