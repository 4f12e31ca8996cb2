import { hasErrors } from '../diagnostics/diagnostic.ts';
import { suggest } from '../diagnostics/suggest.ts';
import { didYouMean } from '../diagnostics/message_text.ts';
import { digest } from '../crypto/digest.ts';
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
  /** Share of the matching events to capture, from 0 to 1; default 1. Our extension. */
  readonly sample_rate?: number;
}

/** Why a source is invalid: the service's error number and the key. */
export interface SourceProblem {
  readonly number: number;
  readonly key: 'type' | 'fields' | 'filter' | 'sample_rate';
  /** The index of the field, if it is about one. */
  readonly index?: number;
  readonly message: string;
}

/** Checks a source statically. */
export function sourceProblem({
  type,
  filter,
  fields,
  sample_rate: rate,
}: EventSource): SourceProblem | null {
  if (!isEventType(type)) return { number: 238, key: 'type', message: `There is no event type '${type}'.` };
  if (!isTrafficType(type)) {
    if (fields !== undefined)
      return { number: 5401, key: 'fields', message: 'Audit events have no selectable fields.' };
    if (filter !== undefined)
      return { number: 5402, key: 'filter', message: 'Audit events cannot be filtered.' };
    return rate === undefined
      ? null
      : { number: 5402, key: 'sample_rate', message: 'Audit events are not sampled.' };
  }
  const known = Object.keys(TRAFFIC_EVENTS[type]);
  if (fields?.length === 0)
    return { number: 5400, key: 'fields', message: 'A traffic event requires fields.' };
  const index = (fields ?? []).findIndex(
    (field) => !known.some((each) => each === field || each.startsWith(`${field}.`)),
  );
  if (index >= 0)
    return { number: 5403, key: 'fields', index, message: unknownField(type, fields![index]!, known) };
  return filter === undefined || filter === '' ? null : filterProblem(filter);
}

function unknownField(type: string, field: string, known: readonly string[]): string {
  const groups = known.flatMap((path) => path.split('.').map((_, at, keys) => keys.slice(0, at).join('.')));
  const suggestion = didYouMean(suggest(field, [...known, ...groups]));
  return `${type} has no field '${field}'${suggestion === undefined ? '.' : `; ${suggestion}`}`;
}

function filterProblem(filter: string): SourceProblem | null {
  const { diagnostics } = compile(filter, EVENT_FILTER_SCOPE, { wants: BOOL });
  if (!hasErrors(diagnostics)) return null;
  const { code, message } = diagnostics.find(({ severity }) => severity === 'error')!;
  const number = code === 'expr.unavailable' ? 5406 : 5404;
  return { number, key: 'filter', message: `The filter is invalid: ${message}.` };
}

/** Returns the captured part of an event's object, or null if filter or sample exclude it. */
export type Capture = (object: object, eventId: string) => object | null;

/** Hexadecimal digits of the digest that decide about the sample. */
const SAMPLE_DIGITS = 12;

/** Whether an event belongs to a sample: every subscription with the same rate gets the same events. */
function inSample(eventId: string, rate: number): boolean {
  const drawn = digest('sha256', [eventId], 'hex').slice(0, SAMPLE_DIGITS);
  return Number.parseInt(drawn, 16) < rate * 16 ** SAMPLE_DIGITS;
}

/** Compiles a checked source of traffic events. */
export function captureOf(source: EventSource): Capture {
  const { sample_rate: rate = 1 } = source;
  const take = matching(source);
  return (object, eventId) => (rate < 1 && !inSample(eventId, rate) ? null : take(object));
}

function matching({ filter, fields }: EventSource): (object: object) => object | null {
  const pick = fields === undefined ? (object: object) => object : picker(fields);
  if (filter === undefined || filter === '') return pick;
  const { program } = compile(filter, EVENT_FILTER_SCOPE, { wants: BOOL });
  // A filter that cannot be compiled matches nothing.
  return (object) => (program?.evaluate(object as FilterableEvent) === true ? pick(object) : null);
}

type Nested = Readonly<Record<string, unknown>>;

/** Creates an object with only the selected fields, nested by their dots. */
function picker(fields: readonly string[]): (object: object) => object {
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
