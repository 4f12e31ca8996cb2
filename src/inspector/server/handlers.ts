import { digest } from '../../crypto/digest.ts';
import type { FilterAnswer, Hello } from '../wire.ts';
import type { InspectorContext } from './context.ts';
import { appendCase } from './append_case.ts';
import { copyOf, offeredCase } from './copies.ts';
import { type ExplainKept, detailOf, exchangeAt, keptAt, plainExplanation } from './detail.ts';
import { type Feed, MAX_PAGES } from './feed.ts';
import { fileTexts, writeFile } from './files.ts';
import {
  ANSWERED,
  type Call,
  type Handlers,
  OwnTexts,
  RequestError,
  invalid,
  memberOf,
  seqOf,
  textIn,
} from './handler.ts';
import { overviewOf } from './overview.ts';
import { type Listens, resend } from './resend.ts';
import type { Revisions } from './revisions.ts';
import { type RowFilter, compileRowFilter } from './row_filter.ts';
import { search } from './search.ts';

/** What the handlers of this room work with, besides the context. */
export interface HandlerSources {
  readonly context: InspectorContext;
  readonly feed: Feed;
  readonly revisions: Revisions;
  /** Explains with values; null where nothing decides again. */
  readonly explain: ExplainKept | null;
  readonly hello: () => Hello;
  /** Null before the edge listens. */
  readonly listens: () => Listens | null;
}

/** Filters that pages have named; the least recently used is forgotten. */
const MAX_FILTERS = 100;

/** The handlers of the data, apart from those that decide again. */
export function handlersOf({ context, feed, revisions, explain, hello, listens }: HandlerSources): Handlers {
  const { store, files } = context;
  const filters = new Map<string, RowFilter>();
  return {
    'GET /api/hello': hello,
    'GET /api/feed': (call) => {
      if (feed.pages >= MAX_PAGES)
        throw new RequestError(503, 'unavailable', `${MAX_PAGES} pages are open already; close one`);
      feed.open(call.response, cursorOf(call), filterOf(call, filters));
      return ANSWERED;
    },
    'GET /api/exchanges/:seq': (call) =>
      detailOf(keptAt(seqOf(call), context), context, explain ?? plainExplanation),
    'POST /api/exchanges/:seq/pin': (call) => {
      const kept = keptAt(seqOf(call), context);
      const isPinned = memberOf(call.body, 'pinned');
      if (typeof isPinned !== 'boolean') throw invalid('`pinned` must be true or false');
      if (!store.pin(kept, isPinned))
        throw new RequestError(409, 'too_many', 'too many are pinned; unpin some first');
      feed.changed(kept);
      return context.watch.rowOf(kept);
    },
    'POST /api/exchanges/:seq/resend': (call) => {
      const at = listens();
      if (at === null) throw new RequestError(409, 'unavailable', 'the edge does not listen');
      return resend(exchangeAt(seqOf(call), context), memberOf(call.body, 'edit') ?? null, at, context);
    },
    'GET /api/exchanges/:seq/copy': (call) =>
      copyOf(exchangeAt(seqOf(call), context), call.query.get('as') ?? '', context),
    'POST /api/exchanges/:seq/case': (call) =>
      appendCase(offeredCase(exchangeAt(seqOf(call), context), context), call.body, context),
    'POST /api/filter': ({ body }) => named(textIn(body, 'expression'), filters),
    'POST /api/search': ({ body }) => search(body, context),
    'POST /api/clear': () => {
      store.clear();
      feed.cleared(store.lastSeq);
      return store.figures();
    },
    'GET /api/files': () => new OwnTexts({ files: fileTexts(files) }),
    'PUT /api/files': ({ body }) => new OwnTexts(writeFile(body, files)),
    'GET /api/revisions': () => ({ revisions: revisions.list() }),
    'GET /api/revisions/:seq': (call) => {
      const diff = revisions.diff(seqOf(call));
      if (diff === null)
        throw new RequestError(404, 'not_kept', 'this revision, or the one before it, is not known');
      return diff;
    },
    'GET /api/overview': () => overviewOf(context, revisions),
  };
}

function named(expression: string, filters: Map<string, RowFilter>): FilterAnswer {
  const filter = compileRowFilter(expression);
  if ('diagnostics' in filter) return { id: null, diagnostics: filter.diagnostics };
  const id = digest('sha256', [expression], 'hex').slice(0, 16);
  filters.delete(id);
  filters.set(id, filter);
  for (const oldest of filters.keys()) {
    if (filters.size <= MAX_FILTERS) break;
    filters.delete(oldest);
  }
  return { id, diagnostics: [] };
}

function filterOf({ query }: Call, filters: ReadonlyMap<string, RowFilter>): RowFilter | null {
  const id = query.get('filter');
  if (id === null) return null;
  const filter = filters.get(id);
  if (filter === undefined)
    throw new RequestError(404, 'not_found', 'there is no such filter; name it again with POST /api/filter');
  return filter;
}

function cursorOf({ query }: Call): number | null {
  const text = query.get('after');
  if (text === null) return null;
  if (!/^\d{1,15}$/.test(text)) throw invalid('`after` has digits only');
  return Number(text);
}
