import { type Scope, type Unavailable, type Variable, declareScope, variable } from '../cel/scope.ts';
import { INT, STRING } from '../cel/types.ts';
import type { Value } from '../cel/values.ts';
import { VALUE_TABLE } from '../policy/env/functions/table.ts';
import type { EventField } from './field_types.ts';
import { type FilterableEvent, TRAFFIC_EVENTS, fieldsOf } from './fields.ts';

const FILTERABLE = fieldsOf('http_request_complete.v0').filter(([, { filterable }]) => filterable === true);

function variableOf([path, { type, doc }]: readonly [string, EventField]): Variable<FilterableEvent> {
  const keys = path.split('.');
  return variable(`ev.${path}`, type === 'string' ? STRING : INT, doc, {
    read: (event: FilterableEvent) =>
      keys.reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>>)[key], event) as Value,
  });
}

/** Fields of both events that cannot be used in filters; a group of such fields is one entry. */
function notFilterable(): readonly Unavailable[] {
  const paths = FILTERABLE.map(([path]) => path);
  const message = `this field is not filterable; a filter reads ${paths.slice(0, -1).join(', ')} and ${paths.at(-1)!}`;
  const others = Object.values(TRAFFIC_EVENTS)
    .flatMap((fields) => Object.keys(fields))
    .filter((path) => !paths.includes(path));
  const names = new Set(
    others.map((path) => {
      const keys = path.split('.');
      const prefixes = keys.map((_, index) => keys.slice(0, index + 1).join('.'));
      return prefixes.find((prefix) => !paths.some((each) => each.startsWith(`${prefix}.`)))!;
    }),
  );
  return Array.from(names, (name) => ({ name: `ev.${name}`, message }));
}

/** The scope of an event source's filter: the event's object as `ev`, which is also the activation. */
export const EVENT_FILTER_SCOPE: Scope<FilterableEvent> = declareScope<FilterableEvent>({
  name: 'event filter',
  functions: VALUE_TABLE,
  variables: FILTERABLE.map(variableOf),
  unavailable: notFilterable(),
});
