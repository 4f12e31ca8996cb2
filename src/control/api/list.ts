import { setImmediate } from 'node:timers/promises';
import { isPartlyHidden, maySee } from '../resources/permissions.ts';
import { sorted } from '../resources/present.ts';
import type { Shown } from './contract.ts';
import { type Fits, fieldsOfDescribed, fieldsOfResource, listFilter } from './list_filter.ts';
import { type ObjectRequest, onlineOf, show } from './objects.ts';
import type { PageQuery } from './request.ts';

/** A list below another object: its own uri, and which objects belong to it. */
interface Sublist {
  readonly uri: string;
  readonly belongs: Fits;
}

/** A page of objects with the URL of the next page. */
export async function list(
  request: Omit<ObjectRequest, 'ids'>,
  query: PageQuery,
  sublist?: Sublist,
): Promise<Shown> {
  const { wiring, asking, resource } = request;
  const { limit, beforeId } = query;
  const fits = fitsOf(query, fieldsOfResource(resource), wiring.nowMs, sublist?.belongs);
  const isScanning = fits !== null || isPartlyHidden(asking.principal, resource.kind);
  const isFit = fits ?? (() => true);
  const found: Shown[] = [];
  // One more object than requested shows whether there is another page.
  for (let before: string | undefined = beforeId; found.length <= limit;) {
    const { ids, shown } = await slice(before, isScanning ? SCANNED : limit + 1);
    found.push(...shown.filter(isFit).slice(0, limit + 1 - found.length));
    before = ids.at(-1);
    if (before === undefined || !isScanning) break;
    await setImmediate();
  }
  const online = onlineOf(request).filter(
    (each) => (beforeId === undefined || idOf(each) < beforeId) && isFit(each),
  );
  const all = [...found, ...online].toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const uri = sublist?.uri ?? asking.base + resource.path;
  return pageIn(resource.listKey, uri, query, all);

  /** The next objects; each slice is a read of its own, so that a long search delays neither the edge nor others. */
  function slice(before: string | undefined, count: number) {
    return wiring.store.read(async (view) => {
      const page = { limit: count, ...(before !== undefined && { beforeId: before }) };
      const objects = await view.list(resource.kind, page);
      const seen = objects.filter((object) => maySee(asking.principal, object));
      const shown: Shown[] = [];
      for (const object of seen) shown.push(await show(request, object, view));
      return { ids: objects.map(({ id }) => id), shown };
    });
  }
}

/** The first page of what is left of a list, in the form of responses. */
function pageIn(key: string, uri: string, query: PageQuery, rest: readonly Shown[]): Shown {
  const page = rest.slice(0, query.limit);
  return envelope(key, page, uri, rest.length > query.limit ? nextPage(uri, page, query) : null);
}

function idOf(shown: Shown): string {
  return String(shown['id']);
}

/** Number of objects read at a time for a filter: a few milliseconds. */
const SCANNED = 100;

/** A page of rows that are in memory, newest first, in the form of responses. */
export function listRows(
  rows: readonly Shown[],
  { key, uri, title }: { readonly key: string; readonly uri: string; readonly title: string },
  query: PageQuery,
): Shown {
  const { beforeId } = query;
  const fits = fitsOf(query, fieldsOfDescribed(title)) ?? (() => true);
  const last = rows.findIndex((row) => idOf(row) === beforeId);
  // A row that is gone still has its place in the order if ids are sortable by time.
  const isAfter = (row: Shown, index: number): boolean =>
    last >= 0 ? index > last : beforeId === undefined || idOf(row) < beforeId;
  return pageIn(
    key,
    uri,
    query,
    rows.filter((row, index) => isAfter(row, index) && fits(row)),
  );
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

function nextPage(uri: string, page: readonly Shown[], { limit, filter, chosen }: PageQuery): string {
  const query = new URLSearchParams({ before_id: String(page.at(-1)!['id']), limit: String(limit) });
  if (filter !== undefined) query.set('filter', filter);
  for (const [property, value] of chosen) query.append(property, value);
  return `${uri}?${query.toString()}`;
}

/** A list in the form of responses. */
function envelope(key: string, page: readonly unknown[], uri: string, next: string | null): Shown {
  return sorted({ [key]: page, next_page_uri: next, uri });
}
