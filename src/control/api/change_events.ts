import { auditEvent, isAudited, type AuditAction } from '../../events/audit.ts';
import { wholeSeconds } from '../../events/timestamps.ts';
import type { Resource, ResourceObject } from '../resources/contract.ts';
import { type Showing, present, refTo } from '../resources/present.ts';
import { withoutSecrets } from '../resources/secrets.ts';
import type { Transaction } from '../store/port.ts';
import type { ApiRequest, Wiring } from './contract.ts';

interface Recorded {
  readonly resource: Resource;
  readonly object: ResourceObject;
  readonly action: AuditAction;
}

/** Records a change; returns the destinations of its event. */
export async function recordChange(
  wiring: Wiring,
  asking: ApiRequest,
  transaction: Transaction,
  { resource, object, action }: Recorded,
): Promise<readonly string[]> {
  const { accountId, newId, nowMs } = wiring;
  const { principal, base } = asking;
  const hidden = new Set(resource.secretKeys);
  const told = { ...object, body: withoutSecrets(resource, object.body) };
  const shown = Object.entries(present(resource, told, showingOf(wiring, asking))).filter(
    ([key]) => !hidden.has(key),
  );
  const event = auditEvent({
    eventId: newId('ev'),
    kind: resource.kind,
    action,
    object: Object.fromEntries(shown),
    accountId,
    principal: {
      id: principal.id,
      subject: principal.subject,
      source: 'API',
      credential: refTo(principal.keyId, base),
    },
    timestamp: wholeSeconds(nowMs()),
  });
  const { event_id: eventId, event_type: eventType } = event;
  const record = { eventId, eventType, objectId: object.id, event: JSON.stringify(event) };
  const destinations = isAudited(resource.kind) ? await wiring.subscribers.of(eventType, transaction) : [];
  await transaction.record(record, destinations);
  return destinations;
}

/** What the presentation of objects depends on, in responses to a request and in its events. */
export function showingOf({ ports, deliveries }: Wiring, { base }: ApiRequest): Showing {
  const { service, samlCertificate, tunnelsWith } = ports;
  return { base, service, samlCertificate, tunnelsWith, statusOf: deliveries.statusOf };
}
