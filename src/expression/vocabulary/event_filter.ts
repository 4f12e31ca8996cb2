import { type Scope, type Unavailable, declareScope, variable } from '../scope.ts';
import { INT, STRING } from '../types.ts';
import { VALUE_TABLE } from './functions/table.ts';

/** As much of a traffic event's `object` as a filter may read. */
export interface FilterableEvent {
  readonly conn: {
    readonly client_ip: string;
    readonly server_ip: string;
    readonly server_name: string;
    readonly server_port: number;
  };
}

const says =
  'this field is not filterable; a filter reads conn.client_ip, conn.server_ip, conn.server_name and conn.server_port';

/** Fields of both traffic events that are captured, but not for filters; `ev` in front. */
const NOT_FILTERABLE: readonly Unavailable[] = [
  'backend',
  'basic_auth',
  'circuit_breaker',
  'compression',
  'conn.bytes_in',
  'conn.bytes_out',
  'conn.end_ts',
  'conn.start_ts',
  'http',
  'ip_policy',
  'oauth',
  'tls',
  'traffic_policy',
  'webhook_verification',
].map((name) => ({ name: `ev.${name}`, says }));

/** What the filter of an event source may use: the event's object as `ev`; the activation is that object. */
export const EVENT_FILTER_SCOPE: Scope<FilterableEvent> = declareScope<FilterableEvent>({
  name: 'event filter',
  functions: VALUE_TABLE,
  variables: [
    variable('ev.conn.client_ip', STRING, 'Address of the client.', {
      read: (event: FilterableEvent) => event.conn.client_ip,
    }),
    variable('ev.conn.server_ip', STRING, 'Address that received the request.', {
      read: (event: FilterableEvent) => event.conn.server_ip,
    }),
    variable('ev.conn.server_name', STRING, 'Host name of the connection.', {
      read: (event: FilterableEvent) => event.conn.server_name,
    }),
    variable('ev.conn.server_port', INT, 'Port that the connection came in on.', {
      read: (event: FilterableEvent) => event.conn.server_port,
    }),
  ],
  unavailable: NOT_FILTERABLE,
});
