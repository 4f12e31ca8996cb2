import { compile } from '../../cel/index.ts';
import { type Scope, type Variable, declareScope, variable } from '../../cel/scope.ts';
import { BOOL, INT, STRING, type Type, headerMap } from '../../cel/types.ts';
import { type Value, headerFields } from '../../cel/values.ts';
import { type DiagnosticJson, diagnosticsToJson } from '../../diagnostics/json.ts';
import type { EventField, FieldType, NormalisedHeaders } from '../../events/field_types.ts';
import { fieldsOf } from '../../events/fields.ts';
import { VALUE_TABLE } from '../../policy/env/functions/table.ts';

/** The object of an event, which is the activation of a filter. */
type EventObject = object;

// table: types of fields in expressions
const TYPES: Readonly<Record<FieldType, Type>> = {
  bool: BOOL,
  string: STRING,
  int32: INT,
  int64: INT,
  timestamp: STRING,
  decision: STRING,
  breaker_decision: STRING,
  algorithm: STRING,
  headers: headerMap(),
  /** As JSON. */
  logs: STRING,
};

function valueOf(type: FieldType, value: unknown): Value {
  if (type === 'logs') return JSON.stringify(value);
  if (type !== 'headers') return value as Value;
  const fields = headerFields();
  for (const [name, values] of Object.entries(value as NormalisedHeaders))
    fields[name.toLowerCase()] = values;
  return fields;
}

function variableOf([path, { type, doc }]: readonly [string, EventField]): Variable<EventObject> {
  const keys = path.split('.');
  return variable<EventObject>(`ev.${path}`, TYPES[type], doc, {
    read: (event) => {
      const found = keys.reduce<unknown>(
        (at, key) => (at as Readonly<Record<string, unknown>> | undefined)?.[key],
        event,
      );
      return found === undefined ? undefined : valueOf(type, found);
    },
  });
}

/**
 * The scope of the filter field: the language of event filters, with all fields of the events of requests and
 * connections, because nothing is sent that the page could not read.
 */
export const ROW_FILTER_SCOPE: Scope<EventObject> = declareScope<EventObject>({
  name: 'filter',
  functions: VALUE_TABLE,
  variables: [...fieldsOf('tcp_connection_closed.v0'), ...fieldsOf('http_request_complete.v0')].map(
    variableOf,
  ),
});

export interface RowFilter {
  /** False also if the expression fails for this event, such as for fields that a connection does not have. */
  readonly takes: (event: EventObject) => boolean;
}

/** Compiles an expression. */
export function compileRowFilter(
  source: string,
): RowFilter | { readonly diagnostics: readonly DiagnosticJson[] } {
  const { program, diagnostics } = compile(source, ROW_FILTER_SCOPE, { wants: BOOL });
  if (program === undefined) {
    const located = diagnostics.map((each) =>
      Object.assign({}, each, { source: { name: 'filter', text: source } }),
    );
    return { diagnostics: diagnosticsToJson(located) };
  }
  return { takes: (event) => program.evaluate(event) === true };
}
