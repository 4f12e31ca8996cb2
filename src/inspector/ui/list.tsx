/** The live list, newest first. Only the rows that are seen are in the page. */
import { signal, useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { countText } from '../../pages/units.ts';
import { COLUMNS, RowView } from './row_view.tsx';
import { attempt, isFiltered, kept, loadRows, selected, shown, store } from './state.ts';
import { countUpTo, visibleRange } from './virtual_range.ts';

/** Below this width a row has two lines. */
const NARROW_PX = 560;
const ROW_PX = 30;
const NARROW_ROW_PX = 54;

/** The newest number that is shown while the list is scrolled down, so that it does not move under the reader. */
const held = signal<number | null>(null);
const scrollTop = signal(0);
/** Size of the list in CSS pixels. */
const size = signal({ width: 1000, height: 600 });

/** Moves the selection; the list follows it. */
export function moveSelection(step: number): void {
  const list = shown.peek();
  if (list.length === 0) return;
  const now = selected.peek();
  // Newest first: a step down is a smaller number.
  const at = now === null ? list.length : countUpTo(list, now) - 1;
  const next = Math.min(Math.max(now === null ? list.length - 1 : at - step, 0), list.length - 1);
  selected.value = list[next]!;
  reveal?.(list.length - 1 - next);
}

/** Scrolls the list to the newest or oldest row and selects it. */
export function moveToEnd(isNewest: boolean): void {
  held.value = null;
  moveSelection(isNewest ? -Infinity : Infinity);
}

let reveal: ((index: number) => void) | null = null;

export function List() {
  const box = useRef<HTMLDivElement>(null);
  const rowHeight = size.value.width < NARROW_PX ? NARROW_ROW_PX : ROW_PX;
  const count = useComputed(() =>
    held.value === null ? shown.value.length : countUpTo(shown.value, held.value),
  );
  useEffect(() => watched(box.current!), []);
  useLayoutEffect(() => {
    reveal = (index) => scrollTo(box.current!, index, rowHeight);
  }, [rowHeight]);
  const { first, end } = visibleRange(scrollTop.value, size.value.height, rowHeight, count.value);
  const rows = Array.from({ length: end - first }, (_, at) => shown.value[count.value - 1 - first - at]!);
  const isNarrow = rowHeight === NARROW_ROW_PX;
  return (
    <section class="list" aria-label="Traffic">
      <NewRows count={shown.value.length - count.value} toTop={() => box.current!.scrollTo({ top: 0 })} />
      <div
        ref={box}
        class={isNarrow ? 'rows narrow' : 'rows'}
        role="grid"
        aria-label="Exchanges and connections, newest first"
        aria-rowcount={count.value + 1}
        tabIndex={0}
        onScroll={(event) => scrolled(event.currentTarget)}
      >
        <div class="head" role="row" aria-rowindex={1}>
          {COLUMNS.map(([name, label]) => (
            <span key={name} role="columnheader" class={name}>
              {label}
            </span>
          ))}
        </div>
        <div role="rowgroup" class="space" style={{ height: `${count.value * rowHeight}px` }}>
          <div role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
            {rows.map((seq, at) => (
              <RowView key={seq} row={store.get(seq)!} index={first + at + 2} />
            ))}
          </div>
        </div>
        <Older />
      </div>
    </section>
  );
}

function watched(box: HTMLElement): () => void {
  const observer = new ResizeObserver(() => {
    size.value = { width: box.clientWidth, height: box.clientHeight };
  });
  observer.observe(box);
  return () => observer.disconnect();
}

function scrolled(box: HTMLElement): void {
  scrollTop.value = box.scrollTop;
  if (box.scrollTop < 5) held.value = null;
  else held.value ??= shown.peek().at(-1) ?? null;
}

function scrollTo(box: HTMLElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  const head = rowHeight === ROW_PX ? ROW_PX : 0;
  const { scrollTop: from, clientHeight } = box;
  if (top < from) box.scrollTop = top;
  else if (top + rowHeight + head > from + clientHeight)
    box.scrollTop = top + rowHeight + head - clientHeight;
}

function NewRows({ count, toTop }: { readonly count: number; readonly toTop: () => void }) {
  if (count <= 0) return null;
  return (
    <button type="button" class="new_rows" onClick={toTop}>
      ↑ {countText(count)} new
    </button>
  );
}

/** What is before the first row: rows that only the server has, or an explanation of an empty list. */
function Older() {
  const [answer, setAnswer] = useState<string | null>(null);
  const { oldest } = store;
  if (shown.value.length === 0)
    return (
      <p class="empty" role="presentation">
        {isFiltered.value ? 'No row matches the filter.' : 'Nothing yet. Send a request to the edge.'}
      </p>
    );
  if (oldest === null || oldest === 1 || (kept.value?.rows ?? 0) <= store.size) return null;
  const load = async (): Promise<void> => {
    const found = await attempt(() => loadRows(oldest));
    if (found !== null) setAnswer(found.rows.length === 0 ? 'The server keeps no older rows.' : null);
  };
  return (
    <div role="row" class="older">
      <span role="gridcell">
        {answer ?? (
          <button type="button" onClick={() => void load()}>
            Load older rows
          </button>
        )}
      </span>
    </div>
  );
}
