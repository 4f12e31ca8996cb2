import {
  type EventObject,
  type FieldType,
  type FieldTypeOf,
  type ReplayedPath,
  fieldsOf,
} from '../events/fields.ts';
import type { FieldList } from '../http/fields.ts';
import type { Assemble, Leaf } from './line_forms.ts';

type Partly<T> = T extends string | readonly unknown[] ? T : { readonly [Key in keyof T]?: Partly<T[Key]> };

type Known = Partly<EventObject<'http_request_complete.v0'>>;
type Http = NonNullable<Known['http']>;

/** A line that looks like an event of a request: what it must have to be read, and what it may have. */
export interface EventLine {
  readonly event_timestamp?: string;
  readonly object: Known & {
    readonly conn: NonNullable<Known['conn']>;
    readonly http: Http & {
      readonly request: NonNullable<Http['request']> & { readonly url: object };
    };
  };
}

/** Whether a parsed line looks like an event of a request. */
export function isEventLine(value: unknown): value is EventLine {
  const object = (value as { object?: { http?: { request?: { url?: unknown } }; conn?: unknown } } | null)
    ?.object;
  return typeof object?.http?.request?.url === 'object' && typeof object.conn === 'object';
}

/** What a replay reads of a field, by its type. */
type FactOf<Type extends FieldType> = Type extends 'headers'
  ? FieldList
  : Type extends 'bool'
    ? boolean
    : Type extends 'int32' | 'int64'
      ? number | undefined
      : string | undefined;

/**
 * The values that a replay reads from an event, by the path of their field, either from a parsed line or from the values
 * of a line of known form.
 */
export type EventFacts = { readonly timestamp: string | undefined } & {
  readonly [Path in ReplayedPath]: Path extends NeededPath ? string : FactOf<FieldTypeOf<Path>>;
};

/** Without a client or a method nothing can be decided. */
type NeededPath = 'conn.client_ip' | 'http.request.method';
const NEEDED: readonly string[] = ['conn.client_ip', 'http.request.method'] satisfies NeededPath[];

interface Row {
  readonly path: ReplayedPath | 'timestamp';
  readonly keys: readonly string[];
  readonly type: FieldType;
}

/** The fields that a replay reads, and the time of the event. */
const ROWS: readonly Row[] = [
  { path: 'timestamp', keys: ['event_timestamp'], type: 'timestamp' },
  ...fieldsOf('http_request_complete.v0')
    .filter(([, { replayed }]) => replayed === true)
    .map(([path, { type }]) => ({
      path: path as ReplayedPath,
      keys: ['object', ...path.split('.')],
      type,
    })),
];
const TEXTS = ROWS.filter(({ type }) => kindOf(type) === 'text');
const COUNTS = ROWS.filter(({ type }) => kindOf(type) === 'count');
const HEADERS = ROWS.filter(({ type }) => type === 'headers');
const FLAGS = ROWS.filter(({ type }) => type === 'bool');

function kindOf(type: FieldType): Leaf['kind'] | null {
  if (type === 'headers' || type === 'bool') return null;
  return type === 'int32' || type === 'int64' ? 'count' : 'text';
}

/** Facts to be filled in: objects that begin alike are quicker to fill. */
const EMPTY = Object.fromEntries(
  ROWS.map(({ path, type }) => [path, type === 'headers' ? [] : type === 'bool' ? false : undefined]),
) as unknown as EventFacts;

/**
 * Reads the facts of a parsed event; null if it has no client, method or URL. Values of unexpected types count
 * as absent.
 */
export function factsOf(event: EventLine): EventFacts | null {
  const facts: Record<string, unknown> = { ...EMPTY };
  for (const { path, keys, type } of ROWS) {
    const value = valueAt(event, keys);
    const kind = kindOf(type);
    if (type === 'headers') facts[path] = listOf(value);
    else if (kind === null) facts[path] = value === true;
    else if (typeof value === (kind === 'count' ? 'number' : 'string')) facts[path] = value;
  }
  return NEEDED.every((path) => facts[path] !== undefined) ? (facts as unknown as EventFacts) : null;
}

function valueAt(event: unknown, keys: readonly string[]): unknown {
  let value = event;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function listOf(headers: unknown): FieldList {
  const list: string[] = [];
  if (typeof headers !== 'object' || headers === null) return list;
  for (const [name, values] of Object.entries(headers)) {
    if (!Array.isArray(values)) continue;
    for (const value of values as readonly unknown[]) if (typeof value === 'string') list.push(name, value);
  }
  return list;
}

/** Finds the positions of values in an event, and notes members that our events do not have. */
function placesIn(leaves: readonly Leaf[], event: EventLine) {
  const places = new Map(leaves.map(({ path, kind }, index) => [`${kind} ${path}`, index]));
  let isOurs = true;
  /** The position of a value; -1 if the event does not have it. */
  const place = (kind: Leaf['kind'], ...keys: readonly string[]): number => {
    let value: unknown = event;
    for (const key of keys) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) isOurs = false;
      value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[key];
      if (value === undefined) return -1;
    }
    const found = places.get(`${kind} ${keys.join('\n')}`);
    if (found === undefined) isOurs = false;
    return found ?? -1;
  };
  const fields = (...keys: readonly string[]): readonly (readonly [name: string, place: number])[] => {
    let headers: unknown = event;
    for (const key of keys) headers = (headers as Readonly<Record<string, unknown>> | undefined)?.[key];
    if (headers === undefined) return [];
    return Object.entries(headers as Readonly<Record<string, unknown>>).flatMap(([name, values]) => {
      // A field without values differs from a missing field.
      if (!Array.isArray(values) || values.length === 0) isOurs = false;
      return Array.from(values as readonly unknown[], (_value, index) => {
        const found = places.get(`text ${[...keys, name, String(index)].join('\n')}`);
        if (found === undefined) isOurs = false;
        return [name, found ?? -1] as const;
      });
    });
  };
  return { place, fields, isOurs: () => isOurs };
}

/**
 * Returns a function that finds the facts of lines of this form among their values; null if the value is not an
 * event, or has members that our events do not have: those lines go to the JSON parser.
 */
export function assembleFacts(leaves: readonly Leaf[], event: unknown): Assemble<EventFacts> | null {
  if (!isEventLine(event)) return null;
  const { place, fields, isOurs } = placesIn(leaves, event);
  const texts = TEXTS.map(({ path, keys }) => [path, place('text', ...keys)] as const);
  const counts = COUNTS.map(({ path, keys }) => [path, place('count', ...keys)] as const);
  const lists = HEADERS.map(({ path, keys }) => [path, fields(...keys)] as const);
  // A flag is neither string nor number, so it is part of the form and the same in all its lines.
  const flags = FLAGS.map(({ path, keys }) => [path, valueAt(event, keys) ?? false] as const);
  const hasFlags = flags.every(([, flag]) => typeof flag === 'boolean');
  const hasNeeded = texts.every(([path, at]) => at >= 0 || !NEEDED.includes(path));
  if (!hasFlags || !hasNeeded || !isOurs()) return null;
  const form = { ...EMPTY, ...Object.fromEntries(flags) };
  return (values) => {
    const facts: Record<string, unknown> = { ...form };
    for (let at = 0; at < texts.length; at++) facts[texts[at]![0]] = values[texts[at]![1]];
    for (let at = 0; at < counts.length; at++) facts[counts[at]![0]] = numberAt(values, counts[at]![1]);
    for (let at = 0; at < lists.length; at++) facts[lists[at]![0]] = listAt(values, lists[at]![1]);
    return facts as unknown as EventFacts;
  };
}

function numberAt(values: readonly string[], place: number): number | undefined {
  return place < 0 ? undefined : Number(values[place]);
}

function listAt(
  values: readonly string[],
  places: readonly (readonly [name: string, place: number])[],
): FieldList {
  const list: string[] = [];
  for (const [name, place] of places) list.push(name, values[place]!);
  return list;
}
