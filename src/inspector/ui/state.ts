/** What the page shows, as signals; data flows from the feed into them, and from them into the views. */
import { batch, computed, effect, signal } from '@preact/signals';
import type {
  FeedEvent,
  Hello,
  Kept,
  PinRequest,
  Revision,
  Row,
  SearchAnswer,
  SearchRequest,
  SecondStats,
} from '../wire.ts';
import { type Facet, type FacetName, type Filter, predicateOf } from './facets.ts';
import { RowStore } from './row_store.ts';
import { Refusal, fragment, get, readFeed, send, sentenceOf } from './server.ts';

export type View = 'traffic' | 'overview' | 'draft';

/** Rows that the page keeps: enough to scroll far, and little memory. */
const ROWS = 20_000;
const SECONDS = 300;
const RECONNECT_MS = 1000;

export const store = new RowStore(ROWS);
export const hello = signal<Hello | null>(null);
export const kept = signal<Kept | null>(null);
/** Rows that the server did not send because the page was too slow. */
export const missed = signal(0);
export const seconds = signal<readonly SecondStats[]>([]);
export const revision = signal<Revision | null>(null);
/** `lost`: the server cannot be reached; `refused`: it does not know the token. */
export const link = signal<'opening' | 'live' | 'lost' | 'refused' | 'ended'>('opening');
export const isPaused = signal(false);
/** Rows that came while the list was paused. */
export const waiting = signal(0);
export const view = signal<View>('traffic');
export const selected = signal<number | null>(null);
export const note = signal('');

export const text = signal('');
export const facets = signal<readonly Facet[]>([]);
/** The expression that the server filters by; null for none. */
export const expression = signal<{ readonly source: string; readonly id: string } | null>(null);
/** What a search in headers and bodies found; null if there was none for the text. */
export const found = signal<SearchAnswer | null>(null);
const filter = computed<Filter>(() => ({
  text: text.value,
  facets: facets.value,
  found: new Set(found.value?.rows.map(({ seq }) => seq)),
}));
export const isFiltered = computed(
  () => text.value !== '' || facets.value.length > 0 || expression.value !== null,
);

/** Grows with each change of the rows that are shown. */
const changes = signal(0);
let frozen: readonly number[] | null = null;
/** Numbers of the shown rows, ascending; a paused list stays as it is. */
export const shown = computed(() => {
  void changes.value;
  return frozen ?? store.shown();
});

let frame = 0;
function changed(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    changes.value++;
  });
}

export function pause(paused: boolean): void {
  frozen = paused ? store.shown() : null;
  batch(() => {
    isPaused.value = paused;
    waiting.value = 0;
    changes.value++;
  });
}

export function toggleFacet(name: FacetName, value: string, isNegated = false): void {
  const others = facets.peek().filter((facet) => facet.name !== name || facet.value !== value);
  const isOff = others.length < facets.peek().length && !isNegated;
  facets.value = isOff ? others : [...others, { name, value, isNegated }];
}

export function clearFilters(): void {
  batch(() => {
    text.value = '';
    found.value = null;
    facets.value = [];
    expression.value = null;
  });
}

/** Does what may be refused; the refusal is shown. */
export async function attempt<Result>(act: () => Promise<Result>): Promise<Result | null> {
  try {
    note.value = '';
    return await act();
  } catch (error) {
    note.value = sentenceOf(error);
    return null;
  }
}

export async function clear(): Promise<void> {
  kept.value = await send<Kept>('POST', 'clear', {});
  store.clear();
  missed.value = 0;
  if (selected.peek() !== null && store.get(selected.peek()!) === undefined) selected.value = null;
  if (frozen !== null) frozen = store.shown();
  changed();
}

export async function togglePin(seq: number): Promise<void> {
  const row = store.get(seq);
  const now = await send<Row>('POST', `exchanges/${seq}/pin`, {
    pinned: row?.pinned !== true,
  } satisfies PinRequest);
  store.add([now]);
  changed();
}

const SEARCH_ROWS = 2000;

/** Searches headers and bodies, which only the server has. */
export async function searchBodies(): Promise<void> {
  const answer = await send<SearchAnswer>('POST', 'search', {
    text: text.peek(),
    limit: SEARCH_ROWS,
  } satisfies SearchRequest);
  store.add(answer.rows);
  found.value = answer;
}

/** Asks for rows before a number: those that were missed, or that are older than the page's. */
export async function loadRows(before: number | null): Promise<SearchAnswer> {
  const source = expression.peek()?.source;
  const answer = await send<SearchAnswer>('POST', 'search', {
    limit: SEARCH_ROWS,
    ...(before !== null && { before }),
    ...(source !== undefined && { expression: source }),
  } satisfies SearchRequest);
  store.add(answer.rows);
  if (before === null) missed.value = 0;
  changed();
  return answer;
}

function take(event: FeedEvent): void {
  switch (event.type) {
    case 'rows':
      store.add(event.rows);
      if (isPaused.peek()) waiting.value += event.rows.length;
      else changed();
      break;
    case 'missed':
      missed.value += event.count;
      break;
    case 'stats':
      batch(() => {
        seconds.value = [...seconds.peek().slice(-SECONDS), event.stats];
        kept.value = event.kept;
      });
      break;
    case 'revision':
      revision.value = event.revision;
      break;
    case 'cleared':
      store.clear(event.upTo);
      changed();
      break;
    case 'end':
      link.value = 'ended';
      break;
  }
}

let cursor: string | null = null;

/** A server that was started again counts from 1. */
function greet(given: Hello): void {
  const before = hello.peek();
  if (before !== null && before.startedMs !== given.startedMs) {
    store.reset();
    cursor = null;
    changed();
  }
  batch(() => {
    hello.value = given;
    kept.value = given.kept;
    link.value = 'live';
  });
}

/** Follows the feed until it is aborted; a lost one is opened again where it ended. */
async function follow(signal_: AbortSignal, filterId: string | null): Promise<void> {
  while (!signal_.aborted) {
    try {
      greet(await get<Hello>('hello', signal_));
      const query = new URLSearchParams();
      if (cursor !== null) query.set('after', cursor);
      if (filterId !== null) query.set('filter', filterId);
      await readFeed(
        query,
        (event, at) => {
          cursor = at ?? cursor;
          take(event);
        },
        signal_,
      );
    } catch (error) {
      if (signal_.aborted) return;
      const status = error instanceof Refusal ? error.status : 0;
      link.value = status === 401 || status === 403 || status === 421 ? 'refused' : 'lost';
      if (link.value === 'refused') return;
      // The server may be another one, which does not know the cursor.
      if (status >= 400) cursor = null;
    }
    if (!signal_.aborted && link.peek() === 'live') link.value = 'lost';
    await new Promise((resolve) => void setTimeout(resolve, RECONNECT_MS));
  }
}

/** Follows the feed of the expression that is active; another expression begins with other rows. */
export function start(): void {
  let running: AbortController | null = null;
  effect(() => {
    const id = expression.value?.id ?? null;
    running?.abort();
    running = new AbortController();
    store.reset();
    cursor = null;
    frozen = null;
    batch(() => {
      isPaused.value = false;
      missed.value = 0;
      waiting.value = 0;
    });
    changed();
    void follow(running.signal, id);
  });
  effect(() => {
    store.show(predicateOf(filter.value));
    // A paused list is filtered, too.
    if (frozen !== null) frozen = store.shown();
    changed();
  });
  openFragment();
  window.addEventListener('hashchange', openFragment);
  effect(writeFragment);
}

/** Links of error pages name the exchange to be opened. */
function openFragment(): void {
  const given = fragment();
  const seq = Number(given.get('exchange') ?? '');
  const named = given.get('view');
  batch(() => {
    if (Number.isSafeInteger(seq) && seq > 0) selected.value = seq;
    if (named === 'overview' || named === 'draft' || named === 'traffic') view.value = named;
  });
}

function writeFragment(): void {
  const now = fragment();
  const set = (name: string, value: string | null): void =>
    value === null ? now.delete(name) : now.set(name, value);
  set('exchange', selected.value === null ? null : String(selected.value));
  set('view', view.value === 'traffic' ? null : view.value);
  history.replaceState(null, '', `#${now.toString()}`);
}
