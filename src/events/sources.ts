import { hasErrors } from '../diagnostics/diagnostic.ts';
import { compile } from '../cel/program.ts';
import { BOOL } from '../cel/types.ts';
import { isEventType, isTrafficType } from './event_types.ts';
import { TRAFFIC_EVENTS, type FilterableEvent } from './fields.ts';
import { EVENT_FILTER_SCOPE } from './filter_scope.ts';

/** What a subscription receives of one event type. */
export interface EventSource {
  readonly type: string;
  readonly filter?: string;
  /** Fields to capture; default all. */
  readonly fields?: readonly string[];
}

/** Why a source is invalid: the service's error number and the key. */
export interface SourceProblem {
  readonly number: number;
  readonly key: 'type' | 'fields' | 'filter';
  readonly message: string;
}

/** Checks a source statically. */
export function sourceProblem({ type, filter, fields }: EventSource): SourceProblem | null {
  if (!isEventType(type)) return { number: 238, key: 'type', message: `There is no event type '${type}'.` };
  if (!isTrafficType(type)) {
    if (fields !== undefined)
      return { number: 5401, key: 'fields', message: 'Audit events have no selectable fields.' };
    if (filter !== undefined)
      return { number: 5402, key: 'filter', message: 'Audit events cannot be filtered.' };
    return null;
  }
  const known = Object.keys(TRAFFIC_EVENTS[type]);
  if (fields?.length === 0)
    return { number: 5400, key: 'fields', message: 'A traffic event requires fields.' };
  const unknown = fields?.find(
    (field) => !known.some((each) => each === field || each.startsWith(`${field}.`)),
  );
  if (unknown !== undefined) {
    return { number: 5403, key: 'fields', message: `${type} has no field '${unknown}'.` };
  }
  return filter === undefined || filter === '' ? null : filterProblem(filter);
}

function filterProblem(filter: string): SourceProblem | null {
  const { diagnostics } = compile(filter, EVENT_FILTER_SCOPE, { wants: BOOL });
  if (!hasErrors(diagnostics)) return null;
  const { code, message } = diagnostics.find(({ severity }) => severity === 'error')!;
  const number = code === 'expr.unavailable' ? 5406 : 5404;
  return { number, key: 'filter', message: `The filter is invalid: ${message}.` };
}

/** Returns the captured part of an event's object, or null if the filter excludes it. */
export type Capture = (object: object) => object | null;

/** Compiles a checked source of traffic events. */
export function captureOf({ filter, fields }: EventSource): Capture {
  const pick = fields === undefined ? (object: object) => object : picker(fields);
  if (filter === undefined || filter === '') return pick;
  const { program } = compile(filter, EVENT_FILTER_SCOPE, { wants: BOOL });
  // A filter that cannot be compiled matches nothing.
  return (object) => (program?.evaluate(object as FilterableEvent) === true ? pick(object) : null);
}

type Nested = Readonly<Record<string, unknown>>;

/** Creates an object with only the selected fields, nested by their dots. */
function picker(fields: readonly string[]): Capture {
  const paths = fields.map((field) => field.split('.'));
  return (object) => {
    const picked: Record<string, unknown> = {};
    for (const path of paths) {
      const value = path.reduce<unknown>((at, key) => (at as Nested | undefined)?.[key], object);
      if (value === undefined) continue;
      let place = picked;
      for (const key of path.slice(0, -1)) place = (place[key] ??= {}) as Record<string, unknown>;
      place[path.at(-1)!] = value;
    }
    return picked;
  };
}
