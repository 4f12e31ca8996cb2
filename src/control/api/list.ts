import { setImmediate } from 'node:timers/promises';
import type { ResourceObject } from '../resources/contract.ts';
import { isPartlyHidden, maySee } from '../resources/permissions.ts';
import { isFixed } from '../resources/present.ts';
import type { View } from '../store/port.ts';
import { Json, type Shown } from './contract.ts';
import { type Fits, fieldsOfDescribed, fieldsOfResource, listFilter } from './list_filter.ts';
import { type ObjectRequest, onlineOf, show, showJson } from './objects.ts';
import type { PageQuery } from './request.ts';
import { indexInTurns, turns } from './turns.ts';

/** A list below another object: its own uri, and which objects belong to it. */
interface Sublist {
  readonly uri: string;
  readonly belongs: Fits;
}

/** A row of a list. */
interface Row {
  readonly id: string;
  /** As JSON. */
  readonly json: string;
}

/** A page of objects with the URL of the next page. */
export async function list(
  request: Omit<ObjectRequest, 'ids'>,
  query: PageQuery,
  sublist?: Sublist,
): Promise<Json> {
  const { wiring, asking, resource } = request;
  const uri = sublist?.uri ?? asking.base + resource.path;
  const fits = fitsOf(query, fieldsOfResource(resource), wiring.nowMs, sublist?.belongs);
  if (fits === null && !isPartlyHidden(asking.principal, resource.kind)) {
    return wiring.store.read((view) => newest(request, query, view));
  }
  const found = await search(request, query, fits);
  const rows = await withOnline(request, query, found, fits);
  return pageIn(resource.listKey, uri, query, rows);
}

/** Pages of objects that depend on nothing else. */
const written = new WeakMap<readonly ResourceObject[], { readonly uri: string; readonly page: Json }>();

/** The newest objects, all of which the caller may see. */
async function newest(request: Omit<ObjectRequest, 'ids'>, query: PageQuery, view: View): Promise<Json> {
  const { asking, resource } = request;
  const { limit, beforeId } = query;
  const uri = asking.base + resource.path;
  // One more object than requested shows whether there is another page.
  const page = { limit: limit + 1, ...(beforeId !== undefined && { beforeId }) };
  const objects = await view.list(resource.kind, page);
  const before = written.get(objects);
  if (before?.uri === uri) return before.page;
  const rows: Row[] = [];
  for (const object of objects) rows.push({ id: object.id, json: await showJson(request, object, view) });
  const made = pageIn(resource.listKey, uri, query, await withOnline(request, query, rows, null));
  if (objects.every(isFixed) && resource.ofAgents === undefined) written.set(objects, { uri, page: made });
  return made;
}

/** Number of objects read at a time for a filter: a few milliseconds. */
const SCANNED = 100;

/**
 * The newest objects that the caller may see and that fit, and one more than requested if there is another page. Each
 * slice is a read of its own, so that a long search delays neither the edge nor others.
 */
async function search(
  request: Omit<ObjectRequest, 'ids'>,
  { limit, beforeId }: PageQuery,
  fits: Fits | null,
): Promise<readonly Row[]> {
  const { wiring, asking, resource } = request;
  const found: Row[] = [];
  for (let before: string | undefined = beforeId; found.length <= limit;) {
    const { last, shown } = await slice(before);
    const turn = turns();
    for (const each of shown) {
      // A filter may take milliseconds for one object.
      if (turn.isOver()) await turn.next();
      if (found.length <= limit && (fits === null || fits(each))) found.push(rowOf(each));
    }
    if (last === undefined || asking.isAbandoned?.() === true) break;
    before = last;
    await setImmediate();
  }
  return found;

  function slice(before: string | undefined) {
    return wiring.store.read(async (view) => {
      const page = { limit: SCANNED, ...(before !== undefined && { beforeId: before }) };
      const objects = await view.list(resource.kind, page);
      const seen = objects.filter((object) => maySee(asking.principal, object));
      const shown: Shown[] = [];
      for (const object of seen) shown.push(await show(request, object, view));
      return { last: objects.at(-1)?.id, shown };
    });
  }
}

/** Rows of the store with those of connected agents. */
async function withOnline(
  request: Omit<ObjectRequest, 'ids'>,
  { beforeId, limit }: PageQuery,
  found: readonly Row[],
  fits: Fits | null,
): Promise<readonly Row[]> {
  const all = onlineOf(request).filter((each) => beforeId === undefined || idOf(each) < beforeId);
  const { isAbandoned } = request.asking;
  const online = await fitting(all, (each) => each, { limit, fits, isAbandoned });
  if (online.length === 0) return found;
  return [...found, ...online].toSorted((one, other) => (one.id < other.id ? 1 : -1));
}

interface Fitting {
  readonly limit: number;
  /** Null: everything fits. */
  readonly fits: Fits | null;
  readonly isAbandoned?: (() => boolean) | undefined;
}

/** The first rows that fit, and one more than the limit if there is one; shown and filtered in turns. */
async function fitting<Each>(
  rows: Iterable<Each>,
  shownOf: (row: Each) => Shown,
  { limit, fits, isAbandoned = () => false }: Fitting,
): Promise<readonly Row[]> {
  const turn = turns();
  const found: Row[] = [];
  for (const row of rows) {
    if (turn.isOver()) await turn.next();
    const shown = shownOf(row);
    if (fits === null || fits(shown)) found.push(rowOf(shown));
    if (found.length > limit || isAbandoned()) break;
  }
  return found;
}

function rowOf(shown: Shown): Row {
  return { id: idOf(shown), json: JSON.stringify(shown) };
}

/** The first page of what is left of a list, in the form of responses. */
function pageIn(key: string, uri: string, query: PageQuery, rest: readonly Row[]): Json {
  const page = rest.slice(0, query.limit);
  const next = rest.length > query.limit ? nextPage(uri, page.at(-1)!, query) : null;
  const members = [
    [key, `[${page.map(({ json }) => json).join(',')}]`],
    ['next_page_uri', JSON.stringify(next)],
    ['uri', JSON.stringify(uri)],
  ] as const;
  const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return new Json(`{${sorted.map(([name, json]) => `"${name}":${json}`).join(',')}}`);
}

function idOf(shown: Shown): string {
  return String(shown['id']);
}

/** A list whose rows are in memory. */
export interface MemoryList<Each> {
  readonly key: string;
  readonly uri: string;
  readonly title: string;
  /** Newest first. */
  readonly rows: readonly Each[];
  readonly idOf: (row: Each) => string;
  /** Whether the ids are in the descending order of the rows, so that they have a place in it when their row is gone. */
  readonly isInOrder: boolean;
  /** The row in the form of responses, which may take long. */
  readonly show: (row: Each) => Shown;
}

/** A page of rows that are in memory, in the form of responses. */
export async function listRows<Each>(
  memory: MemoryList<Each>,
  query: PageQuery,
  isAbandoned?: () => boolean,
): Promise<Json> {
  const { key, uri, title, rows } = memory;
  const fits = fitsOf(query, fieldsOfDescribed(title));
  const rest = rows.slice(await startOf(memory, query.beforeId));
  const { limit } = query;
  return pageIn(key, uri, query, await fitting(rest, memory.show, { limit, fits, isAbandoned }));
}

/**
 * The index of the first row of a page. Without the row before it and without an order of ids it is the first: rows may
 * be listed again, but none is left out.
 */
async function startOf<Each>(
  { rows, idOf: id, isInOrder }: MemoryList<Each>,
  beforeId: string | undefined,
): Promise<number> {
  if (beforeId === undefined) return 0;
  const last = await indexInTurns(rows, (row) => id(row) === beforeId);
  if (last >= 0 || !isInOrder) return last + 1;
  const next = rows.findIndex((row) => id(row) < beforeId);
  return next >= 0 ? next : rows.length;
}

/** The conditions of a query; null if there are none. Throws the documented error. */
function fitsOf(
  { filter, chosen }: PageQuery,
  fields: readonly string[],
  nowMs?: () => number,
  belongs?: Fits,
): Fits | null {
  const all = [
    ...(belongs === undefined ? [] : [belongs]),
    // Names of parameters may be plural: `ids` chooses by `id`.
    ...Array.from(
      Map.groupBy(chosen, ([name]) => name.replace(/s$/, '')),
      ([name, values]): Fits =>
        (shown) =>
          values.some(([, value]) => shown[name] === value),
    ),
    ...(filter === undefined ? [] : [listFilter(filter, fields, nowMs)]),
  ];
  return all.length === 0 ? null : (shown) => all.every((fits) => fits(shown));
}

function nextPage(uri: string, last: Row, { limit, filter, chosen }: PageQuery): string {
  const query = new URLSearchParams({ before_id: last.id, limit: String(limit) });
  if (filter !== undefined) query.set('filter', filter);
  for (const [property, value] of chosen) query.append(property, value);
  return `${uri}?${query.toString()}`;
}
