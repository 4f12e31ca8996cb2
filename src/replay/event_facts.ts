import { type EventObject, type FieldTypeOf, type ReplayedPath, fieldsOf } from '../events/fields.ts';
import type { FieldType } from '../events/field_types.ts';
import type { FieldList } from '../http/fields.ts';
import type { Assemble, LineValues } from './line_forms.ts';
import type { Leaf } from './line_leaves.ts';

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
    : Type extends 'int32' | 'int64' | 'timestamp'
      ? number | undefined
      : string | undefined;

/**
 * The values that a replay reads from an event, by the path of their field, either from a parsed line or from the values
 * of a line of known form.
 */
export type EventFacts = { readonly timestamp: number | undefined } & {
  readonly [Path in ReplayedPath]: Path extends NeededPath ? string : FactOf<FieldTypeOf<Path>>;
};

/** Without a client or a method nothing can be decided. */
type NeededPath = 'conn.client_ip' | 'http.request.method';
const NEEDED: readonly NeededPath[] = ['conn.client_ip', 'http.request.method'];
const isNeeded = (path: Row['path']): boolean => NEEDED.includes(path as NeededPath);

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

/** How a value is read; null for those that are neither strings nor numbers. An instant is a string, read as milliseconds. */
type Reading = Leaf['kind'] | 'instant';

function readingOf(type: FieldType): Reading | null {
  if (type === 'headers' || type === 'bool') return null;
  if (type === 'timestamp') return 'instant';
  return type === 'int32' || type === 'int64' ? 'count' : 'text';
}

/**
 * Facts by path over a list in the order of the rows: filling a list is much quicker than storing by names that are only
 * known at run time.
 */
class ListedFacts {
  readonly values: readonly unknown[];
  constructor(values: readonly unknown[]) {
    this.values = values;
  }
}

for (const [index, { path }] of ROWS.entries()) {
  Object.defineProperty(ListedFacts.prototype, path, {
    get(this: ListedFacts) {
      return this.values[index];
    },
  });
}

function factsIn(values: readonly unknown[]): EventFacts {
  return new ListedFacts(values) as unknown as EventFacts;
}

/** Returns a function that compares two events by some facts; headers are compared elsewhere. */
export function equalIn(paths: readonly ReplayedPath[]): (one: EventFacts, other: EventFacts) => boolean {
  const rows = ROWS.flatMap(({ path }, row) => (paths.includes(path as ReplayedPath) ? [row] : []));
  return (one, other) => {
    // By place, because reading a name that is only known at run time takes much longer.
    const { values } = one as unknown as ListedFacts;
    const { values: others } = other as unknown as ListedFacts;
    for (let at = 0; at < rows.length; at++) if (values[rows[at]!] !== others[rows[at]!]) return false;
    return true;
  };
}

/**
 * Reads the facts of a parsed event; null if it has no client, method or URL. Values of unexpected types count
 * as absent.
 */
export function factsOf(event: EventLine): EventFacts | null {
  const values = ROWS.map(({ keys, type }) => {
    const value = valueAt(event, keys);
    const reading = readingOf(type);
    if (type === 'headers') return listOf(value);
    if (reading === null) return value === true;
    if (reading === 'instant') return typeof value === 'string' ? Date.parse(value) : undefined;
    return typeof value === (reading === 'count' ? 'number' : 'string') ? value : undefined;
  });
  const facts = factsIn(values);
  return NEEDED.every((path) => facts[path] !== undefined) ? facts : null;
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
    for (const key of keys)
      headers = (headers as Readonly<Record<string, unknown>> | null | undefined)?.[key];
    if (headers === undefined) return [];
    return Object.entries(headers ?? {}).flatMap(([name, values]: [string, unknown]) => {
      const list = Array.isArray(values) ? values : [];
      // A field without values differs from a missing field.
      if (list.length === 0) isOurs = false;
      return Array.from(list, (_value, index) => {
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
  // A flag is neither string nor number, so it is part of the form and the same in all its lines.
  const columns = ROWS.map(({ keys, type }): Column => {
    if (type === 'headers') return { fields: fields(...keys) };
    const reading = readingOf(type);
    if (reading === null) return { flag: valueAt(event, keys) ?? false };
    return { reading, at: place(reading === 'instant' ? 'text' : reading, ...keys) };
  });
  const hasFlags = columns.every((each) => !('flag' in each) || typeof each.flag === 'boolean');
  const hasNeeded = ROWS.every(({ path }, row) => !isNeeded(path) || isPresent(columns[row]!));
  if (!hasFlags || !hasNeeded || !isOurs()) return null;
  return assembler(columns);
}

/** Where the value of a row is in the lines of a form. */
type Column =
  | { readonly reading: Reading; readonly at: number }
  | { readonly flag: unknown }
  | { readonly fields: readonly (readonly [name: string, place: number])[] };

function isPresent(column: Column): boolean {
  return 'at' in column && column.at >= 0;
}

/** Places in a list, and the leaves whose values belong there, in turns. */
type Placed = readonly number[];

/** What lines of a form have in common, and where their own values belong. */
interface Template {
  /** The number of varying values that it was made for. */
  readonly varying: number;
  readonly facts: readonly unknown[];
  readonly texts: Placed;
  readonly counts: Placed;
  readonly instants: Placed;
  readonly lists: readonly {
    readonly row: number;
    readonly list: readonly string[];
    readonly texts: Placed;
  }[];
}

function assembler(columns: readonly Column[]): Assemble<EventFacts> {
  let template: Template | null = null;
  return (values) => {
    if (template?.varying !== values.varying) template = templateOf(columns, values);
    const { texts, counts, instants, lists } = template;
    const facts = template.facts.slice();
    for (let at = 0; at < texts.length; at += 2) facts[texts[at]!] = values.text(texts[at + 1]!);
    for (let at = 0; at < counts.length; at += 2) facts[counts[at]!] = values.count(counts[at + 1]!);
    for (let at = 0; at < instants.length; at += 2) facts[instants[at]!] = values.instant(instants[at + 1]!);
    for (let at = 0; at < lists.length; at++) {
      const { row, list, texts: own } = lists[at]!;
      const filled = list.slice();
      for (let index = 0; index < own.length; index += 2) filled[own[index]!] = values.text(own[index + 1]!);
      facts[row] = filled;
    }
    return factsIn(facts);
  };
}

function templateOf(columns: readonly Column[], values: LineValues): Template {
  const placed: Record<Reading, number[]> = { text: [], count: [], instant: [] };
  const lists: Template['lists'][number][] = [];
  const facts = columns.map((column, row): unknown => {
    if ('flag' in column) return column.flag;
    if ('fields' in column) {
      const list = column.fields.flatMap(([name, leaf]) => [name, values.text(leaf)]);
      const own = column.fields.flatMap(([, leaf], at) => (values.varies(leaf) ? [2 * at + 1, leaf] : []));
      // Nothing changes a list of fields, so that lines can share one.
      if (own.length > 0) lists.push({ row, list, texts: own });
      return list;
    }
    const { reading, at } = column;
    if (at < 0) return undefined;
    if (values.varies(at)) placed[reading].push(row, at);
    return values[reading](at);
  });
  const { text: texts, count: counts, instant: instants } = placed;
  return { varying: values.varying, facts, texts, counts, instants, lists };
}
