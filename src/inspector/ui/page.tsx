import { signal } from '@preact/signals';
import { type ComponentType, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Keys, isForPage } from '../../pages/keys.tsx';
import { countText, durationText } from '../../pages/units.ts';
import { DetailPane, detail, followSelection, moveTab } from './detail.tsx';
import { decideDraft, format } from './draft.ts';
import { DraftPane, openWanted } from './draft_view.tsx';
import { FilterBar, focusFilter, resetFilters, toggleExpression } from './filter_bar.tsx';
import { List, moveSelection, moveToEnd } from './list.tsx';
import { loadFiles } from './places.ts';
import { copy, edited, resend } from './repeat.ts';
import {
  type View,
  attempt,
  clear,
  hello,
  isFiltered,
  isPaused,
  link,
  note,
  pause,
  revision,
  seconds,
  selected,
  start,
  toggleFacet,
  togglePin,
  view,
} from './state.ts';

const isHelpOpen = signal(false);

// table: keys of the page
const KEYS = [
  ['?', 'show or hide this list'],
  ['j / k', 'next, previous row'],
  ['g / G', 'newest, oldest row'],
  ['Enter', 'go to the details'],
  ['[ / ]', 'part to the left, right'],
  ['Esc', 'close, or show all rows'],
  ['/', 'filter by text'],
  ['x', 'filter by an expression'],
  ['p', 'pause or resume the list'],
  ['c', 'clear what is not pinned'],
  ['i', 'pin the exchange'],
  ['r', 'resend'],
  ['e', 'edit and resend'],
  ['s', 'save as a scenario case'],
  ['u / h', 'copy as curl, as HAR'],
  ['d', 'decide with a draft'],
  ['f', 'format the draft'],
  ['t / o', 'traffic, overview'],
  ['Esc, then Tab', 'leave the editor'],
] as const;

/** What the keys do that need no exchange. */
const ACTS: Readonly<Record<string, () => void>> = {
  '?': () => void (isHelpOpen.value = !isHelpOpen.peek()),
  j: () => moveSelection(1),
  ArrowDown: () => moveSelection(1),
  k: () => moveSelection(-1),
  ArrowUp: () => moveSelection(-1),
  g: () => moveToEnd(true),
  G: () => moveToEnd(false),
  Enter: () => document.getElementById('tab_panel')?.focus(),
  '[': () => moveTab(-1),
  ']': () => moveTab(1),
  Escape: escape,
  '/': focusFilter,
  x: toggleExpression,
  p: () => pause(!isPaused.peek()),
  c: () => void attempt(clear),
  d: () => void (view.value = 'draft'),
  f: () => void format(),
  t: () => void (view.value = 'traffic'),
  o: () => void (view.value = 'overview'),
};

/** What the keys do with the exchange that is open. */
const ACTS_ON_EXCHANGE: Readonly<Record<string, (seq: number) => void>> = {
  i: (seq) => void attempt(() => togglePin(seq)),
  r: (seq) => void (hello.peek()?.can.resend === true && resend(seq)),
  e: () => {
    const now = detail.peek();
    if (now?.kind === 'exchange' && hello.peek()?.can.resend === true) edited.value = now;
  },
  s: (seq) => void copy(seq, 'case'),
  u: (seq) => void copy(seq, 'curl'),
  h: (seq) => void copy(seq, 'har'),
};

function escape(): void {
  if (isHelpOpen.peek()) isHelpOpen.value = false;
  else if (view.peek() !== 'traffic') view.value = 'traffic';
  else if (selected.peek() !== null) selected.value = null;
  else if (isFiltered.peek()) resetFilters();
}

function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  if (key === 'Escape' && target instanceof HTMLElement && target.id === 'filter') target.blur();
  if (!isForPage(event)) return;
  // A button or a part that scrolls keeps its own keys.
  const isOwn =
    target instanceof Element &&
    target.closest('button, summary, pre, [role=tabpanel], .verdicts, .overview') !== null;
  if (isOwn && /^(?:Enter|ArrowDown|ArrowUp)$/.test(key)) return;
  const act = ACTS[key];
  const seq = selected.peek();
  if (act !== undefined) act();
  else if (seq !== null && ACTS_ON_EXCHANGE[key] !== undefined) ACTS_ON_EXCHANGE[key](seq);
  else return;
  event.preventDefault();
}

// table: what the state of the link is for people
const LINKS = {
  opening: 'opening',
  live: 'live',
  lost: 'connection lost, trying again',
  refused: 'refused',
  ended: 'edgeproof has ended',
} as const;

// table: views of the page
const VIEWS: readonly (readonly [View, string])[] = [
  ['traffic', 'Traffic'],
  ['overview', 'Overview'],
  ['draft', 'Draft'],
];

function Bar() {
  const views = hello.value?.can.files === true ? VIEWS : VIEWS.slice(0, 2);
  return (
    <header class="top">
      <h1>
        edgeproof <span>inspector</span>
      </h1>
      <p class="edge quiet">
        {hello.value?.edgeUrl} <span>rev {revision.value?.revision ?? hello.value?.revision ?? '–'}</span>
      </p>
      <p class={`link ${link.value}`} role="status">
        <span class="dot" aria-hidden="true" /> {LINKS[link.value]}
      </p>
      <Pulse />
      <nav aria-label="Views">
        {views.map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-current={view.value === name ? 'page' : undefined}
            onClick={() => void (view.value = name)}
          >
            {label}
          </button>
        ))}
      </nav>
      <button
        type="button"
        class="help"
        aria-expanded={isHelpOpen.value}
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => void (isHelpOpen.value = !isHelpOpen.value)}
      >
        ?
      </button>
    </header>
  );
}

/** The last second: its rate, its latency, and its statuses, which filter. */
function Pulse() {
  const last = seconds.value.at(-1);
  if (last === undefined) return <p class="pulse" />;
  return (
    <p class="pulse">
      <span>{countText(last.requests)}/s</span>
      {last.p99Ms !== null && <span class="quiet">p99 {durationText(last.p99Ms)}</span>}
      {[2, 3, 4, 5].map(
        (digit) =>
          last.classes[digit]! > 0 && (
            <button
              key={digit}
              type="button"
              class={`value code c${digit}`}
              title={`Show ${digit}xx`}
              onClick={() => toggleFacet('status', `${digit}xx`)}
            >
              {digit}xx {countText(last.classes[digit]!)}
            </button>
          ),
      )}
    </p>
  );
}

const loaded = signal<{ readonly pane: ComponentType } | null>(null);

/** The overview is a chunk of its own. */
function LazyOverview() {
  useEffect(() => {
    if (loaded.peek() === null)
      void import('./overview.tsx').then(({ OverviewPane }) => void (loaded.value = { pane: OverviewPane }));
  }, []);
  if (loaded.value === null) return <p class="quiet">Loading …</p>;
  const { pane: Pane } = loaded.value;
  return <Pane />;
}

function Refused() {
  return (
    <main class="refused">
      <h2>This page is not allowed to read the traffic</h2>
      <p>
        The token in its address is not that of the running edgeproof. Open the URL that edgeproof printed
        when it started; each start has another one.
      </p>
    </main>
  );
}

function Page() {
  useEffect(() => void loadFiles(), [hello.value]);
  if (link.value === 'refused') return <Refused />;
  return (
    <>
      <Bar />
      {isHelpOpen.value && <Keys rows={KEYS} licenses={['LICENSES.txt']} />}
      <p class={note.value === '' ? 'note hidden' : 'note'} role="status">
        {note.value}
        {note.value !== '' && (
          <button type="button" aria-label="Hide" onClick={() => void (note.value = '')}>
            ×
          </button>
        )}
      </p>
      <main data-view={view.value} data-open={selected.value !== null}>
        {view.value === 'overview' ? (
          <LazyOverview />
        ) : (
          <>
            <div class="traffic">
              <FilterBar />
              <List />
            </div>
            <DetailPane />
            {view.value === 'draft' && <DraftPane />}
          </>
        )}
      </main>
    </>
  );
}

start();
followSelection();
decideDraft();
openWanted();
document.addEventListener('keydown', onKey);
render(<Page />, document.getElementById('page')!);
