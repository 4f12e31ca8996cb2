import { type FunctionRow, func, functionTable, overload } from '../../cel/function_table.ts';
import { type Program, compile } from '../../cel/program.ts';
import { declareScope, variable } from '../../cel/scope.ts';
import { negateDuration, parseDuration, parseTimestamp, shiftTimestamp } from '../../cel/time.ts';
import { BOOL, DYN, type Field, STRING, TIMESTAMP, object } from '../../cel/types.ts';
import { type Duration, type EvalError, type Timestamp, type Value, isError } from '../../cel/values.ts';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { timestamp } from '../../events/timestamps.ts';
import { VALUE_TABLE } from '../../policy/env/functions/table.ts';
import { valueOfPlain } from '../../policy/env/json.ts';
import type { Resource } from '../resources/contract.ts';
import { DESCRIBED } from '../resources/described.ts';
import { ApiProblem } from '../resources/problem.ts';
import type { Shown } from './contract.ts';

/**
 * Filters of lists: expressions over `obj`, the object as in responses. Absent fields are null, and so are empty
 * lists where that makes the filter true. Times are timestamps.
 */

interface Filtered {
  readonly obj: Shown;
  readonly nowMs: number;
}

/** Whether an object belongs to the list. */
export type Fits = (object: Shown) => boolean;

/** Fields whose values are times in RFC 3339 format. */
const TIMES = /_at$|^(?:not|valid)_(?:before|after|until)$|^last_(?:active|login)$/;

/**
 * Compiles the `filter` of a list of objects with these fields; throws the documented error, with the place of the
 * problem. Objects for which the filter fails are omitted, unless it costs too much, which is an error.
 */
export function listFilter(source: string, fields: readonly string[], nowMs = Date.now): Fits {
  const program = compiled(source, fields);
  if ('problem' in program) {
    const { problem, position } = program;
    const message = `Invalid CEL query at character ${position}: ${problem}.`;
    throw new ApiProblem(400, 250, message, { parameter: 'filter', position: String(position) });
  }
  const at = nowMs();
  const fits = (obj: Shown): boolean => {
    const value = program.evaluate({ obj, nowMs: at });
    if (isError(value) && value.code === 'expr.budget_exceeded') {
      const message = 'The CEL query takes too many steps for one object; make it simpler.';
      throw new ApiProblem(400, 250, message, { parameter: 'filter', id: String(obj['id']) });
    }
    return value === true;
  };
  return (shown) => fits(shown) || (Object.values(shown).some(isEmptyList) && fits(withoutEmptyLists(shown)));
}

/** Why a text is not a filter of objects with these fields; null if it is one. */
export function filterProblem(source: string, fields: readonly string[]): string | null {
  const program = compiled(source, fields);
  return 'problem' in program ? program.problem : null;
}

function compiled(
  source: string,
  fields: readonly string[],
): Program<Filtered> | { readonly problem: string; readonly position: number } {
  const type = object('obj', Object.fromEntries(fields.map((name) => [name, fieldOf(name)])));
  const scope = declareScope<Filtered>({
    name: 'list filter',
    functions: FUNCTIONS,
    variables: [
      variable('obj', type, 'The object as in responses.', { read: ({ obj }: Filtered) => obj as never }),
      variable('time.now', STRING, 'The time in RFC 3339 format.', {
        read: (filtered: Filtered) => timestamp(filtered.nowMs),
      }),
    ],
  });
  const { program, diagnostics } = compile(source, scope, { wants: BOOL });
  if (program !== undefined) return program;
  const { message, hint, span } = diagnostics.find((each) => hasErrors([each]))!;
  return { problem: hint === undefined ? message : `${message} (${hint})`, position: (span?.start ?? 0) + 1 };
}

/** Names of the fields of an object in responses. */
export function fieldsOfResource({ fields, children }: Resource): string[] {
  const own = Object.entries(fields).flatMap(([name, { read }]) =>
    read === undefined ? [] : [read.name ?? name],
  );
  return ['id', 'uri', ...own, ...(children === undefined ? [] : [children.name])];
}

/** Names of the fields of something that is not in the table of resources. */
export function fieldsOfDescribed(title: string): string[] {
  return Object.keys(DESCRIBED[title]!.answer.shape);
}

function fieldOf(name: string): Field {
  const isTime = TIMES.test(name);
  const read = (shown: Shown): Value | undefined => {
    const value = shown[name] ?? null;
    const made = isTime && typeof value === 'string' ? parseTimestamp(value) : valueOfPlain(value);
    return isError(made) ? undefined : made;
  };
  return { type: isTime ? TIMESTAMP : DYN, doc: 'As in responses.', read };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function withoutEmptyLists(shown: Shown): Shown {
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => !isEmptyList(value)));
}

const HOURS_PER_DAY = 24;
const DAYS = /^(\d{1,9})d/;
const DATE = /^\d{4}-\d\d-\d\dZ$/;

/** The time after a duration; `7d` is a duration, too. */
function after(time: Timestamp, text: string): Timestamp | EvalError {
  const by = durationOf(text);
  return isError(by) ? by : shiftTimestamp(time, by);
}

function before(time: Timestamp, text: string): Timestamp | EvalError {
  const by = durationOf(text);
  const back = isError(by) ? by : negateDuration(by);
  return isError(back) ? back : shiftTimestamp(time, back);
}

function durationOf(text: string): Duration | EvalError {
  return parseDuration(text.replace(DAYS, (_, days: string) => `${Number(days) * HOURS_PER_DAY}h`));
}

const METHOD = {
  style: 'method',
  params: [TIMESTAMP, STRING],
  result: TIMESTAMP,
  specialise: ([, text]: readonly (Value | undefined)[]) => problemOf(text, durationOf, 1),
} as const;
const NOW = "timestamp('2026-01-08T00:00:00Z')";

/** The problem of a constant text that a function cannot read. */
function problemOf(text: Value | undefined, read: (text: string) => Value | EvalError, argument: number) {
  const value = typeof text === 'string' ? read(text) : null;
  if (!isError(value)) return undefined;
  return { problem: { code: 'expr.invalid_argument', message: value.message, argument } } as const;
}

function timeOf(text: string): Timestamp | EvalError {
  return parseTimestamp(DATE.test(text) ? text.replace('Z', 'T00:00:00Z') : text);
}

/** Functions of the service's filters. */
const TIME_FUNCTIONS: readonly FunctionRow[] = [
  func('add', 'A later time.', `${NOW}.add('24h') == timestamp('2026-01-09Z')`, [
    overload({ id: 'timestamp_add', ...METHOD, call: after }),
  ]),
  func('subtract', 'An earlier time.', `${NOW}.subtract('7d') == timestamp('2026-01-01Z')`, [
    overload({ id: 'timestamp_subtract', ...METHOD, call: before }),
  ]),
  func('timestamp', 'The time in a text, or the start of a date.', `timestamp('2026-01-08Z') == ${NOW}`, [
    overload({
      id: 'date_to_timestamp',
      style: 'global',
      params: [STRING],
      result: TIMESTAMP,
      call: timeOf,
      specialise: ([text]) => problemOf(text, timeOf, 0),
    }),
  ]),
];

const FUNCTIONS = functionTable(TIME_FUNCTIONS, VALUE_TABLE.rows);
