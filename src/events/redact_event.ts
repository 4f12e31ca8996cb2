import { type Redact, redactIn } from '../engine/redact.ts';
import type { EventField } from './field_types.ts';
import { type EventObject, TRAFFIC_EVENTS, type TrafficType } from './fields.ts';

/** A copy of an event in which each field is what `change` makes of it by its row. */
export function mapFields<Type extends TrafficType>(
  type: Type,
  object: EventObject<Type>,
  change: (field: EventField, value: unknown, path: string) => unknown,
): EventObject<Type> {
  const fields: Readonly<Record<string, EventField>> = TRAFFIC_EVENTS[type];
  const below = (prefix: string, group: object): object =>
    Object.fromEntries(
      Object.entries(group).map(([key, value]: [string, object]) => {
        const path = prefix + key;
        const field = fields[path];
        return [key, field === undefined ? below(`${path}.`, value) : change(field, value, path)];
      }),
    );
  return below('', object) as EventObject<Type>;
}

/**
 * Removes secrets read by policies from an event. Only free texts can contain them; field names, decisions
 * and times are unchanged, even if they contain a short secret.
 */
export function redactEvent<Type extends TrafficType>(
  type: Type,
  object: EventObject<Type>,
  redact: Redact,
): EventObject<Type> {
  return mapFields(type, object, ({ type: kind }, value) => {
    if (kind === 'string' || kind === 'headers') return redactIn(value, redact);
    if (kind !== 'logs') return value;
    return (value as readonly { readonly metadata: object }[]).map(({ metadata }) => ({
      metadata: redactIn(metadata, redact),
    }));
  });
}
