import type { Resource } from '../resources/contract.ts';
import { isPartlyHidden, maySee } from '../resources/permissions.ts';
import { sorted } from '../resources/present.ts';
import type { View } from '../store/port.ts';
import type { ApiRequest, Wiring } from './contract.ts';
import { type ListFilter, listFilter } from './filter.ts';
import { type Shown, show } from './objects.ts';
import type { PageQuery } from './request.ts';

/** A page of objects with the URL of the next page. */
export async function list(
  wiring: Wiring,
  asking: ApiRequest,
  resource: Resource,
  query: PageQuery,
): Promise<Shown> {
  const { limit, beforeId, filter } = query;
  const fits = filter === undefined ? null : listFilter(filter);
  const isScanning = fits !== null || isPartlyHidden(asking.principal, resource.kind);
  const { page, hasMore } = await wiring.store.read((view) => pageOf(view, beforeId));
  const uri = asking.base + resource.path;
  return envelope(resource.listKey, page, uri, hasMore ? nextPage(uri, page, query) : null);

  async function pageOf(view: View, from: string | undefined) {
    const found: Shown[] = [];
    // One more object than requested shows whether there is another page.
    for (let before = from; found.length <= limit;) {
      const wanted = isScanning ? SCANNED : limit + 1;
      const objects = await view.list(resource.kind, {
        limit: wanted,
        ...(before !== undefined && { beforeId: before }),
      });
      for (const object of objects) {
        if (!maySee(asking.principal, object)) continue;
        const shown = await show(wiring, asking, resource, object, view);
        if (isWanted(fits, shown) && found.length <= limit) found.push(shown);
      }
      if (objects.length < wanted || !isScanning) break;
      before = objects.at(-1)!.id;
    }
    return { page: found.slice(0, limit), hasMore: found.length > limit };
  }
}

/** Number of objects read at a time for a filter. */
const SCANNED = 500;

function isWanted(fits: ListFilter | null, shown: Shown): boolean {
  return fits === null || fits(shown);
}

function nextPage(uri: string, page: readonly Shown[], { limit, filter }: PageQuery): string {
  const query = new URLSearchParams({ before_id: String(page.at(-1)!['id']), limit: String(limit) });
  if (filter !== undefined) query.set('filter', filter);
  return `${uri}?${query.toString()}`;
}

/** A list in the form of responses. */
export function envelope(key: string, page: readonly unknown[], uri: string, next: string | null): Shown {
  return sorted({ [key]: page, next_page_uri: next, uri });
}
