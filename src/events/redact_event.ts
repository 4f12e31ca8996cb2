import { type Redact, redactIn } from '../engine/redact.ts';
import { type EventField, type EventObject, TRAFFIC_EVENTS, type TrafficType } from './fields.ts';

/**
 * Removes secrets read by policies from an event. Only free texts can contain them; field names, decisions
 * and times are unchanged, even if they contain a short secret.
 */
export function redactEvent<Type extends TrafficType>(
  type: Type,
  object: EventObject<Type>,
  redact: Redact,
): EventObject<Type> {
  return redactBelow('', object, TRAFFIC_EVENTS[type], redact) as EventObject<Type>;
}

function redactBelow(
  prefix: string,
  group: object,
  fields: Readonly<Record<string, EventField>>,
  redact: Redact,
): object {
  return Object.fromEntries(
    Object.entries(group).map(([key, value]: [string, object]) => {
      const field = fields[prefix + key];
      if (field === undefined) return [key, redactBelow(`${prefix}${key}.`, value, fields, redact)];
      return [key, redactField(field, value, redact)];
    }),
  );
}

function redactField({ type }: EventField, value: unknown, redact: Redact): unknown {
  if (type === 'string' || type === 'headers') return redactIn(value, redact);
  if (type !== 'logs') return value;
  return (value as readonly { readonly metadata: object }[]).map(({ metadata }) => ({
    metadata: redactIn(metadata, redact),
  }));
}
