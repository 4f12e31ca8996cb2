import { TRAFFIC_EVENTS, type TrafficType } from './fields.ts';

/** Objects with audit events. */
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
  'ssh_certificate_authority',
  'ssh_host_certificate',
  'ssh_public_key',
  'ssh_user_certificate',
  'tcp_address',
  'tls_certificate',
  'tunnel_credential',
  'vault',
] as const;

export const AUDIT_TYPES: ReadonlySet<string> = new Set([
  ...AUDIT_OBJECTS.flatMap((object) =>
    ['created', 'updated', 'deleted'].map((action) => `${object}_${action}.v0`),
  ),
  'agent_session_start.v0',
  'agent_session_stop.v0',
]);

/** Whether a type is a traffic event. */
export function isTrafficType(type: string): type is TrafficType {
  return Object.hasOwn(TRAFFIC_EVENTS, type);
}

/** Whether the event type exists. */
export function isEventType(type: string): boolean {
  return AUDIT_TYPES.has(type) || isTrafficType(type);
}
