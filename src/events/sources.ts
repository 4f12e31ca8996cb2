import { hasErrors } from '../diagnostics/diagnostic.ts';
import { compile } from '../cel/program.ts';
import { BOOL } from '../cel/types.ts';
import { isEventType, isTrafficType } from './event_types.ts';
import { TRAFFIC_EVENTS, type FilterableEvent } from './fields.ts';
import { EVENT_FILTER_SCOPE } from './filter_scope.ts';

/** What a subscription takes of one type of event. */
export interface EventSource {
  readonly type: string;
  readonly filter?: string;
  /** Fields to capture; all of them when left out. */
  readonly fields?: readonly string[];
}

/** Why a source is refused: the number of the service's error, and the key that it is about. */
export interface SourceProblem {
  readonly number: number;
  readonly key: 'type' | 'fields' | 'filter';
  readonly message: string;
}

/** Checks a source as far as it can be checked before any event happens. */
export function sourceProblem({ type, filter, fields }: EventSource): SourceProblem | null {
  if (!isEventType(type)) return { number: 238, key: 'type', message: `There is no event type '${type}'.` };
  if (!isTrafficType(type)) {
    if (fields !== undefined)
      return { number: 5401, key: 'fields', message: 'An audit event takes no fields.' };
    if (filter !== undefined)
      return { number: 5402, key: 'filter', message: 'An audit event takes no filter.' };
    return null;
  }
  const known = Object.keys(TRAFFIC_EVENTS[type]);
  if (fields?.length === 0) return { number: 5400, key: 'fields', message: 'A traffic event needs fields.' };
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
  return { number, key: 'filter', message: `The filter is refused: ${message}.` };
}

/** A source ready to take events: what is captured of an event's object, or null when the filter leaves it out. */
export type Capture = (object: object) => object | null;

/** Compiles a source of traffic events; one that was checked. */
export function captureOf({ filter, fields }: EventSource): Capture {
  const pick = fields === undefined ? (object: object) => object : picker(fields);
  if (filter === undefined || filter === '') return pick;
  const { program } = compile(filter, EVENT_FILTER_SCOPE, { wants: BOOL });
  // A filter that cannot run takes nothing.
  return (object) => (program?.evaluate(object as FilterableEvent) === true ? pick(object) : null);
}

type Nested = Readonly<Record<string, unknown>>;

/** Makes an object of the selected fields only, nested by their dots. */
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
