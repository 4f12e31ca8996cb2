import { type Redact, redactIn } from '../engine/redact.ts';
import type { EventField } from './field_types.ts';
import { type EventObject, type TrafficType, fieldsOf } from './fields.ts';

type Change = (field: EventField, value: unknown, path: string) => unknown;

/** The rows of an event, nested as its members are: a field with its path, or a group. */
type Group = ReadonlyMap<string, { readonly field: EventField; readonly path: string } | Group>;

function groupOf(rows: readonly (readonly [path: string, field: EventField])[], depth: number): Group {
  const byMember = Map.groupBy(rows, ([path]) => path.split('.')[depth]!);
  return new Map(
    Array.from(byMember, ([member, own]) => {
      const [[path, field]] = own as [(typeof own)[number]];
      const isField = path.split('.').length === depth + 1;
      return [member, isField ? { field, path } : groupOf(own, depth + 1)];
    }),
  );
}

const GROUPS: Readonly<Record<TrafficType, Group>> = {
  'http_request_complete.v0': groupOf(fieldsOf('http_request_complete.v0'), 0),
  'tcp_connection_closed.v0': groupOf(fieldsOf('tcp_connection_closed.v0'), 0),
};

function changed(group: Group, object: Readonly<Record<string, unknown>>, change: Change): object {
  const out: Record<string, unknown> = {};
  for (const [member, row] of group) {
    const value = object[member];
    // An event that is read from a file may lack members.
    if (value === undefined) continue;
    out[member] =
      'field' in row ? change(row.field, value, row.path) : changed(row, value as typeof object, change);
  }
  return out;
}

/** A copy of an event in which each field is what `change` makes of it by its row. */
export function mapFields<Type extends TrafficType>(
  type: Type,
  object: EventObject<Type>,
  change: Change,
): EventObject<Type> {
  return changed(GROUPS[type], object, change) as EventObject<Type>;
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
