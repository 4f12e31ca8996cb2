/** One exchange or connection: what is known of it, in tabs. */
import { effect, signal } from '@preact/signals';
import { durationText } from '../../pages/units.ts';
import { visibleLine } from '../../pages/visible.ts';
import type { Detail } from '../wire_detail.ts';
import { Actions } from './actions.tsx';
import { type Tab, tabsOf } from './detail_tabs.tsx';
import { FACETS, type FacetName, facetValue } from './facets.ts';
import { Refusal, get, sentenceOf } from './server.ts';
import { facets, hello, selected, shown, store, toggleFacet } from './state.ts';

export const detail = signal<Detail | null>(null);
/** Why there is no detail; null otherwise. */
const failure = signal<string | null>(null);
const tab = signal('explanation');

/** Fetches what is selected, and again when its row changes. */
export function followSelection(): void {
  let seen = '';
  let running: AbortController | null = null;
  effect(() => {
    const seq = selected.value;
    // Rows that come may be this one, complete.
    void shown.value;
    void hello.value;
    const row = seq === null ? undefined : store.get(seq);
    const now =
      seq === null ? '' : `${seq} ${row?.state ?? ''} ${row?.pinned ?? ''} ${hello.peek()?.startedMs}`;
    if (now === seen) return;
    const isOther = Number.parseInt(seen, 10) !== seq;
    seen = now;
    running?.abort();
    if (isOther) detail.value = null;
    failure.value = null;
    if (seq === null || hello.peek() === null) return;
    running = new AbortController();
    void load(seq, running.signal);
  });
}

async function load(seq: number, signal_: AbortSignal): Promise<void> {
  try {
    detail.value = await get<Detail>(`exchanges/${seq}`, signal_);
  } catch (error) {
    if (signal_.aborted) return;
    detail.value = null;
    failure.value =
      error instanceof Refusal && error.status === 404
        ? 'This exchange is no longer kept: newer ones took its place. Pin those that you want to keep.'
        : sentenceOf(error);
  }
}

/** Shows the tab to the left or right. */
export function moveTab(step: number): void {
  const now = detail.peek();
  if (now === null) return;
  const tabs = tabsOf(now);
  const at = tabs.findIndex(({ id }) => id === activeOf(tabs).id);
  tab.value = tabs[(at + step + tabs.length) % tabs.length]!.id;
}

function activeOf(tabs: readonly Tab[]): Tab {
  return tabs.find(({ id }) => id === tab.value) ?? tabs[0]!;
}

export function DetailPane() {
  if (selected.value === null)
    return (
      <section class="detail empty" aria-label="Details">
        <p class="quiet">Choose a row to see why it went as it did.</p>
      </section>
    );
  const now = detail.value;
  return (
    <section class="detail" aria-label="Details" aria-busy={now === null && failure.value === null}>
      <header>
        <button type="button" class="back" onClick={() => void (selected.value = null)} title="Close (Esc)">
          ← <span>List</span>
        </button>
        {now === null ? <h2>#{selected.value}</h2> : <Title of={now} />}
      </header>
      {failure.value !== null && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      {now !== null && (
        <>
          <Actions detail={now} />
          <Values of={now} />
          <Tabs of={now} />
        </>
      )}
    </section>
  );
}

function Title({ of: { kind, row } }: { readonly of: Detail }) {
  const took = row.tookMs === null ? 'open' : durationText(row.tookMs);
  if (kind === 'connection')
    return (
      <h2>
        {row.protocol === 'tls' ? 'TLS' : 'TCP'} <bdi>{visibleLine(row.host, 200)}</bdi> <small>{took}</small>
      </h2>
    );
  return (
    <h2>
      {visibleLine(row.method, 30)} <bdi>{visibleLine(row.target, 500)}</bdi>{' '}
      <span class={`code c${Math.floor((row.status ?? 0) / 100)}`}>{row.status ?? '–'}</span>{' '}
      <small>{took}</small>
    </h2>
  );
}

/** The values of the row; each filters the list. */
function Values({ of: { row } }: { readonly of: Detail }) {
  const names = (Object.keys(FACETS) as FacetName[]).filter((name) => facetValue(row, name) !== '');
  return (
    <ul class="facets" aria-label="Filter by a value">
      {names.map((name) => {
        const value = facetValue(row, name);
        const isOn = facets.value.some((facet) => facet.name === name && facet.value === value);
        return (
          <li key={name}>
            <button
              type="button"
              aria-pressed={isOn}
              title="Filter by this value; with Alt: all others"
              onClick={({ altKey }) => toggleFacet(name, value, altKey)}
            >
              <span class="quiet">{FACETS[name]}</span> {visibleLine(value, 80)}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function Tabs({ of }: { readonly of: Detail }) {
  const tabs = tabsOf(of);
  const active = activeOf(tabs);
  return (
    <>
      <div role="tablist" aria-label="Parts" class="tabs">
        {tabs.map(({ id, label, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab_${id}`}
            aria-selected={id === active.id}
            aria-controls="tab_panel"
            tabIndex={id === active.id ? 0 : -1}
            onClick={() => void (tab.value = id)}
            onKeyDown={onTabKey}
          >
            {label}
            {count !== undefined && <span class="count">{count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab_panel" aria-labelledby={`tab_${active.id}`} tabIndex={0} key={of.row.seq}>
        {active.content()}
      </div>
    </>
  );
}

function onTabKey(event: KeyboardEvent): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  moveTab(step);
  queueMicrotask(() => document.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus());
}
