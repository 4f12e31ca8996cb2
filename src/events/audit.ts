import type { EventEnvelope } from './catalogue.ts';
import { AUDIT_OBJECTS } from './event_types.ts';

/** The author of a change. */
interface EventPrincipal {
  readonly id: string;
  /** E-mail of a user, or name of a bot. */
  readonly subject: string;
  readonly source: 'API';
  readonly credential: { readonly id: string; readonly uri: string } | null;
}

export interface AuditEvent extends EventEnvelope {
  readonly account_id: string;
  readonly principal: EventPrincipal;
}

export type AuditAction = 'created' | 'updated' | 'deleted';

/** The contents of an audit event. */
export interface AuditFacts {
  readonly eventId: string;
  readonly kind: string;
  readonly action: AuditAction;
  readonly object: object;
  readonly accountId: string;
  readonly principal: EventPrincipal;
  /** RFC 3339, whole seconds. */
  readonly timestamp: string;
}

/** The event of a change. */
export function auditEvent(facts: AuditFacts): AuditEvent {
  return {
    event_id: facts.eventId,
    event_type: `${facts.kind}_${facts.action}.v0`,
    event_timestamp: facts.timestamp,
    account_id: facts.accountId,
    object: facts.object,
    principal: facts.principal,
  };
}

const DELIVERED: ReadonlySet<string> = new Set(AUDIT_OBJECTS);

/** Whether changes of this kind of object are events of the catalogue; others are only recorded. */
export function isAudited(kind: string): boolean {
  return DELIVERED.has(kind);
}
