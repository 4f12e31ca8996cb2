/** Objects whose changes are audit events, of those that this version has. */
export const AUDIT_OBJECTS = [
  'api_key',
  'certificate_authority',
  'domain',
  'event_destination',
  'event_subscription',
  'ip_policy',
  'ip_policy_rule',
  'ip_restriction',
  'secret',
  'tcp_address',
  'tls_certificate',
  'tunnel_credential',
  'vault',
] as const;

/** Objects of the catalogue that this version does not have; subscribing to them is allowed, they do not happen. */
const OTHER_OBJECTS = [
  'ssh_certificate_authority',
  'ssh_host_certificate',
  'ssh_public_key',
  'ssh_user_certificate',
];

const AUDIT_TYPES: ReadonlySet<string> = new Set([
  ...[...AUDIT_OBJECTS, ...OTHER_OBJECTS].flatMap((object) =>
    ['created', 'updated', 'deleted'].map((action) => `${object}_${action}.v0`),
  ),
  'agent_session_start.v0',
  'agent_session_stop.v0',
]);

const CONNECTION_FIELDS = [
  'conn.client_ip',
  'conn.server_ip',
  'conn.server_name',
  'conn.server_port',
  'conn.start_ts',
];

/** Fields of the traffic events, as the specification's tables have them. */
// table: event types and their fields
export const TRAFFIC_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'http_request_complete.v0': [
    'backend.connection_reused',
    'basic_auth.decision',
    'basic_auth.username',
    'circuit_breaker.decision',
    'compression.algorithm',
    'compression.bytes_saved',
    ...CONNECTION_FIELDS,
    'http.request.body_length',
    'http.request.headers',
    'http.request.method',
    'http.request.url.host',
    'http.request.url.path',
    'http.request.url.query',
    'http.request.url.raw',
    'http.request.url.scheme',
    'http.request.user_agent',
    'http.response.body_length',
    'http.response.headers',
    'http.response.status_code',
    'ip_policy.decision',
    'oauth.app_client_id',
    'oauth.decision',
    'oauth.user.id',
    'oauth.user.name',
    'tls.cipher_suite',
    'tls.client_cert.serial_number',
    'tls.client_cert.subject.cn',
    'tls.version',
    'traffic_policy.logs',
    'webhook_verification.decision',
  ],
  'tcp_connection_closed.v0': [
    ...CONNECTION_FIELDS,
    'conn.bytes_in',
    'conn.bytes_out',
    'conn.end_ts',
    'ip_policy.decision',
    'traffic_policy.logs',
  ],
};

/** Whether a type is one of the traffic events. */
export function isTrafficType(type: string): boolean {
  return Object.hasOwn(TRAFFIC_FIELDS, type);
}

/** Whether there is such an event. */
export function isEventType(type: string): boolean {
  return AUDIT_TYPES.has(type) || isTrafficType(type);
}
