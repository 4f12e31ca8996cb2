import { setImmediate } from 'node:timers/promises';
import type { ResourceObject } from '../resources/contract.ts';
import { isPartlyHidden, maySee } from '../resources/permissions.ts';
import { isFixed } from '../resources/present.ts';
import type { View } from '../store/port.ts';
import { Json, type Shown } from './contract.ts';
import { type Fits, fieldsOfDescribed, fieldsOfResource, listFilter } from './list_filter.ts';
import { type ObjectRequest, onlineOf, show, showJson } from './objects.ts';
import type { PageQuery } from './request.ts';

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
  const rows = withOnline(request, query, found, fits ?? undefined);
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
  const made = pageIn(resource.listKey, uri, query, withOnline(request, query, rows));
  if (objects.every(isFixed) && resource.ofAgents === undefined) written.set(objects, { uri, page: made });
  return made;
}

/** Number of objects read at a time for a filter: a few milliseconds. */
const SCANNED = 100;
/** A filter may take milliseconds for one object, so it is evaluated for this time in one turn of the event loop. */
const FILTERED_MS = 5;

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
    let until = performance.now() + FILTERED_MS;
    for (const each of shown) {
      if (performance.now() > until) {
        await setImmediate();
        until = performance.now() + FILTERED_MS;
      }
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
function withOnline(
  request: Omit<ObjectRequest, 'ids'>,
  { beforeId }: PageQuery,
  found: readonly Row[],
  fits: Fits = () => true,
): readonly Row[] {
  const online = onlineOf(request).filter(
    (each) => (beforeId === undefined || idOf(each) < beforeId) && fits(each),
  );
  if (online.length === 0) return found;
  return [...found, ...online.map(rowOf)].toSorted((one, other) => (one.id < other.id ? 1 : -1));
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

/** A page of rows that are in memory, newest first, in the form of responses. */
export function listRows(
  rows: readonly Shown[],
  { key, uri, title }: { readonly key: string; readonly uri: string; readonly title: string },
  query: PageQuery,
): Json {
  const { beforeId } = query;
  const fits = fitsOf(query, fieldsOfDescribed(title)) ?? (() => true);
  const last = rows.findIndex((row) => idOf(row) === beforeId);
  // A row that is gone still has its place in the order if ids are sortable by time.
  const isAfter = (row: Shown, index: number): boolean =>
    last >= 0 ? index > last : beforeId === undefined || idOf(row) < beforeId;
  return pageIn(key, uri, query, rows.filter((row, index) => isAfter(row, index) && fits(row)).map(rowOf));
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
