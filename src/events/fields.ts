import type { EventField, TypeOf } from './field_types.ts';

/**
 * The fields of the traffic events, one row per field: types, filters, subscriptions, redaction and docs
 * derive from it.
 */

// table: fields of the connection, which both events have
const CLIENT_IP = {
  type: 'string',
  isPlain: true,
  source: 'connection',
  filterable: true,
  replayed: true,
  doc: 'Address of the client.',
} as const satisfies EventField;
const SERVER = {
  'conn.server_ip': {
    type: 'string',
    source: 'connection',
    filterable: true,
    replayed: true,
    doc: 'Address that received the request.',
  },
  'conn.server_name': {
    type: 'string',
    source: 'connection',
    filterable: true,
    replayed: true,
    doc: 'Host name of the connection.',
  },
  'conn.server_port': {
    type: 'int32',
    source: 'connection',
    filterable: true,
    replayed: true,
    doc: 'Destination port of the connection.',
  },
  'conn.start_ts': {
    type: 'timestamp',
    source: 'connection',
    replayed: true,
    doc: 'When the connection was accepted.',
  },
} as const satisfies Readonly<Record<string, EventField>>;

const LOGS = {
  type: 'logs',
  source: 'module',
  doc: 'Metadata of the `log` actions, in order.',
} as const satisfies EventField;

// table: fields of http_request_complete.v0
const HTTP_REQUEST_COMPLETE = {
  'backend.connection_reused': {
    type: 'bool',
    source: 'upstream',
    replayed: true,
    doc: 'Whether the last attempt used a connection that was open.',
  },
  'basic_auth.decision': { type: 'decision', source: 'module', doc: 'Always `invalid`: no module has it.' },
  'basic_auth.username': { type: 'string', source: 'module', doc: 'Always empty.' },
  'circuit_breaker.decision': {
    type: 'breaker_decision',
    source: 'module',
    module: 'circuit_breaker',
    replayed: true,
    doc: '`allow`: closed; `block`: open; `allow_while_open`: a request that tests the backend.',
  },
  'compression.algorithm': {
    type: 'algorithm',
    source: 'response',
    doc: 'Coding added by the edge: `gzip`, `deflate` or `none`, also for others that policies choose.',
  },
  'compression.bytes_saved': {
    type: 'int64',
    source: 'transfer',
    doc: 'Size of the response before compression, minus its size after.',
  },
  'conn.client_ip': CLIENT_IP,
  ...SERVER,
  'http.request.body_length': {
    type: 'int64',
    source: 'transfer',
    replayed: true,
    doc: 'Bytes of the request body that were read.',
  },
  'http.request.headers': {
    type: 'headers',
    source: 'request',
    replayed: true,
    redaction: 'headers',
    doc: 'Headers as the client sent them: names capitalised, values in lower case.',
  },
  'http.request.method': { type: 'string', source: 'request', replayed: true, doc: 'In lower case.' },
  'http.request.url.host': { type: 'string', source: 'request', replayed: true, doc: 'Host of the URL.' },
  'http.request.url.path': { type: 'string', source: 'request', replayed: true, doc: 'Canonical path.' },
  'http.request.url.query': {
    type: 'string',
    source: 'request',
    replayed: true,
    redaction: 'query',
    doc: 'Query without its question mark.',
  },
  'http.request.url.raw': {
    type: 'string',
    source: 'request',
    replayed: true,
    redaction: 'url',
    doc: 'Scheme, authority, path and query.',
  },
  'http.request.url.scheme': {
    type: 'string',
    isPlain: true,
    source: 'request',
    replayed: true,
    doc: '`http` or `https`.',
  },
  'http.request.user_agent': {
    type: 'string',
    source: 'request',
    replayed: true,
    header: 'user-agent',
    doc: 'As the client sent it.',
  },
  'http.response.body_length': {
    type: 'int64',
    source: 'transfer',
    doc: 'Bytes of the body that were sent.',
  },
  'http.response.headers': {
    type: 'headers',
    source: 'response',
    replayed: true,
    redaction: 'headers',
    doc: 'Headers as the client got them: names capitalised, values in lower case.',
  },
  'http.response.status_code': {
    type: 'int32',
    source: 'response',
    replayed: true,
    doc: '0 if the client left before a response was sent.',
  },
  'ip_policy.decision': {
    type: 'decision',
    source: 'module',
    module: 'ip_restriction',
    replayed: true,
    doc: 'Decision of IP restriction.',
  },
  'oauth.app_client_id': { type: 'string', source: 'module', doc: 'Client id of the OAuth application.' },
  'oauth.decision': {
    type: 'decision',
    source: 'module',
    module: 'oauth',
    replayed: true,
    doc: 'Decision of the OAuth login.',
  },
  'oauth.user.id': { type: 'string', source: 'module', doc: 'User id from the provider.' },
  'oauth.user.name': { type: 'string', source: 'module', doc: 'User name from the provider.' },
  'tls.cipher_suite': { type: 'string', source: 'handshake', replayed: true, doc: 'Empty without TLS.' },
  'tls.client_cert.serial_number': {
    type: 'string',
    source: 'handshake',
    replayed: true,
    doc: 'Serial number of the client’s certificate; empty if it sent none.',
  },
  'tls.client_cert.subject.cn': {
    type: 'string',
    source: 'handshake',
    replayed: true,
    doc: 'Common name of the client’s certificate.',
  },
  'tls.version': { type: 'string', source: 'handshake', replayed: true, doc: 'Empty without TLS.' },
  'traffic_policy.logs': LOGS,
  'webhook_verification.decision': {
    type: 'decision',
    source: 'module',
    module: 'webhook_verification',
    replayed: true,
    doc: 'Decision of webhook verification.',
  },
} as const satisfies Readonly<Record<string, EventField>>;

// table: fields of tcp_connection_closed.v0
const TCP_CONNECTION_CLOSED = {
  'conn.bytes_in': {
    type: 'int64',
    source: 'transfer',
    doc: 'Bytes from the client, without those of a handshake that ended at the edge.',
  },
  'conn.bytes_out': { type: 'int64', source: 'transfer', doc: 'Bytes sent to the client.' },
  'conn.client_ip': CLIENT_IP,
  'conn.end_ts': { type: 'timestamp', source: 'connection', doc: 'When the connection closed.' },
  ...SERVER,
  'ip_policy.decision': {
    type: 'decision',
    source: 'module',
    module: 'ip_restriction',
    doc: 'Decision of IP restriction.',
  },
  'traffic_policy.logs': LOGS,
} as const satisfies Readonly<Record<string, EventField>>;

/** The traffic events and their fields by dotted path, as the specification's tables have them. */
export const TRAFFIC_EVENTS = {
  'http_request_complete.v0': HTTP_REQUEST_COMPLETE,
  'tcp_connection_closed.v0': TCP_CONNECTION_CLOSED,
} as const;

export type TrafficType = keyof typeof TRAFFIC_EVENTS;

type Rows = Readonly<Record<string, EventField>>;

/** The paths of fields that have a property. */
type PathsWith<Fields extends Rows, Property extends Partial<EventField>> = {
  [Path in keyof Fields & string]: Fields[Path] extends Property ? Path : never;
}[keyof Fields & string];

/** Values by dotted path. */
type Values<Fields extends Rows, Path extends keyof Fields = keyof Fields> = {
  readonly [Each in Path]: TypeOf[Fields[Each]['type']];
};

/** Values by dotted path, nested by the dots. */
type Nested<Flat> = {
  readonly [
    Path in keyof Flat & string as Path extends `${infer First}.${string}` ? First : Path
  ]: Path extends `${infer First}.${string}` ? Nested<Below<Flat, First>> : Flat[Path];
};

type Below<Flat, First extends string> = {
  readonly [Path in keyof Flat & string as Path extends `${First}.${infer Rest}` ? Rest : never]: Flat[Path];
};

/** The `object` of an event. */
export type EventObject<Type extends TrafficType> = Nested<Values<(typeof TRAFFIC_EVENTS)[Type]>>;

/** Paths of the fields that a filter reads; both events have them. */
type FilterablePath = PathsWith<typeof HTTP_REQUEST_COMPLETE, { readonly filterable: true }>;

/** The part of an event that a filter reads. */
export type FilterableEvent = Nested<Values<typeof HTTP_REQUEST_COMPLETE, FilterablePath>>;

/** Paths of the fields that a replay reads. */
export type ReplayedPath = PathsWith<typeof HTTP_REQUEST_COMPLETE, { readonly replayed: true }>;

type DecisionPath = PathsWith<
  typeof HTTP_REQUEST_COMPLETE,
  { readonly module: string; readonly replayed: true }
>;

export type FieldTypeOf<Path extends ReplayedPath> = (typeof HTTP_REQUEST_COMPLETE)[Path]['type'];

/** The fields of an event in the order of its JSON. */
export function fieldsOf(type: TrafficType): readonly (readonly [path: string, field: EventField])[] {
  return Object.entries(TRAFFIC_EVENTS[type]);
}

/** Whether a path leads into a field with arbitrary members: headers and logs. */
export function isOpenPath(path: string): boolean {
  return OPEN_PATHS.some((open) => path === open || path.startsWith(`${open}.`));
}

const OPEN_PATHS: readonly string[] = fieldsOf('http_request_complete.v0').flatMap(([path, { type }]) =>
  type === 'headers' || type === 'logs' ? [path] : [],
);

/** Modules whose decisions are in the events of requests, and the paths of the decisions. */
export const DECISIONS: readonly (readonly [module: string, path: DecisionPath])[] = fieldsOf(
  'http_request_complete.v0',
).flatMap(([path, { module }]) => (module === undefined ? [] : [[module, path as DecisionPath]]));
