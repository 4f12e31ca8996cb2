/** What reduces the list: text, an expression, clicked values; and what pauses and clears it. */
import { signal } from '@preact/signals';
import { countText, sizeText } from '../../pages/units.ts';
import { visibleLine } from '../../pages/visible.ts';
import { ExpressionField, clearExpression } from './expression_field.tsx';
import { FACETS, type Facet } from './facets.ts';
import {
  attempt,
  clear,
  clearFilters,
  facets,
  found,
  isFiltered,
  isPaused,
  kept,
  loadRows,
  missed,
  pause,
  searchBodies,
  shown,
  store,
  text,
  toggleFacet,
  waiting,
} from './state.ts';

const isExpression = signal(false);

export function focusFilter(): void {
  document.getElementById('filter')?.focus();
}

export function toggleExpression(): void {
  isExpression.value = !isExpression.peek();
  text.value = '';
  found.value = null;
  clearExpression();
  // After the render, which is a microtask too, and before the next key: a frame may be late.
  queueMicrotask(focusFilter);
}

export function resetFilters(): void {
  clearExpression();
  clearFilters();
}

export function FilterBar() {
  return (
    <div class="filter_bar" role="search">
      <button
        type="button"
        class="mode"
        aria-pressed={isExpression.value}
        title="Filter by an expression (x)"
        onClick={toggleExpression}
      >
        CEL
      </button>
      {isExpression.value ? <ExpressionField /> : <TextField />}
      <button
        type="button"
        aria-pressed={isPaused.value}
        title="Pause the list (p)"
        onClick={() => pause(!isPaused.peek())}
      >
        {isPaused.value ? 'Resume' : 'Pause'}
      </button>
      <button type="button" title="Forget all that is not pinned (c)" onClick={() => void attempt(clear)}>
        Clear
      </button>
      <Chips />
      <Counts />
    </div>
  );
}

function TextField() {
  return (
    <form
      class="text_field"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt(searchBodies);
      }}
    >
      <input
        id="filter"
        type="search"
        value={text.value}
        aria-label="Filter by text; Enter searches headers and bodies, too"
        placeholder="Filter: path, status, host …  Enter searches bodies"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          found.value = null;
        }}
      />
    </form>
  );
}

function Chips() {
  if (facets.value.length === 0 && !isFiltered.value) return null;
  return (
    <div class="chips">
      {facets.value.map((facet) => (
        <Chip key={`${facet.name} ${facet.value}`} facet={facet} />
      ))}
      {isFiltered.value && (
        <button type="button" class="place" onClick={resetFilters}>
          Show all
        </button>
      )}
    </div>
  );
}

function Chip({ facet: { name, value, isNegated } }: { readonly facet: Facet }) {
  return (
    <span class={isNegated ? 'chip negated' : 'chip'}>
      {FACETS[name]} {isNegated ? 'is not' : 'is'} <code>{visibleLine(value, 60)}</code>
      <button
        type="button"
        aria-label={`Remove the filter ${FACETS[name]} ${visibleLine(value, 60)}`}
        onClick={() => toggleFacet(name, value)}
      >
        ×
      </button>
    </span>
  );
}

/** How many rows are shown, and what was not kept or not sent. */
function Counts() {
  const now = kept.value;
  const total = store.size;
  const left = (now?.dropped ?? 0) + (now?.unwatched ?? 0);
  return (
    <p class="counts quiet">
      <span role="status">
        {countText(shown.value.length)}
        {isFiltered.value ? ` of ${countText(total)} rows` : ' rows'}
        {isPaused.value && `, paused, ${countText(waiting.value)} waiting`}
      </span>
      {now !== null && (
        <span title="What the server keeps, and its bound">
          {sizeText(now.bytes)} of {sizeText(now.limitBytes)} kept
        </span>
      )}
      {left > 0 && (
        <span
          class="flag"
          title="Rows that left for newer ones, and exchanges that were not kept while no page was open"
        >
          {countText(left)} not kept
        </span>
      )}
      {store.dropped > 0 && (
        <span title="Rows that this page forgot for newer ones">
          {countText(store.dropped)} left the page
        </span>
      )}
      {missed.value > 0 && (
        <button type="button" class="flag" onClick={() => void attempt(() => loadRows(null))}>
          {countText(missed.value)} were not sent: load
        </button>
      )}
      {found.value !== null && (
        <span class="flag">
          {countText(found.value.rows.length)}
          {found.value.more ? ' or more' : ''} in headers and bodies of {countText(found.value.searched)}
        </span>
      )}
    </p>
  );
}
