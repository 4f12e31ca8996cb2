/** What several reports have: figures, tables, lists that show more when asked. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { countText } from '../../pages/units.ts';
import { visible, visibleLine } from '../../pages/visible.ts';
import type { Figure, LabelledText, ReportedTable } from '../data.ts';
import { isOpen, toggle } from './search.ts';

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  if (figures.length === 0) return null;
  return (
    <dl class="figures">
      {figures.map(([value, meaning]) => (
        <div key={meaning}>
          <dt>{visibleLine(meaning)}</dt>
          <dd>{visibleLine(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Table({ table: { title, columns, rows } }: { readonly table: ReportedTable }) {
  return (
    // It scrolls by itself, so it takes the focus.
    <div class="scrolls" tabIndex={0} role="region" aria-label={title}>
      <table class="figures_table">
        <caption>{visibleLine(title)}</caption>
        <thead>
          <tr>
            {columns.map((name, index) =>
              name === '' ? (
                <td key={index} />
              ) : (
                <th key={index} scope="col">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={column}>{visibleLine(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Labels with their texts. */
export function Rows({ rows }: { readonly rows: readonly LabelledText[] }) {
  return (
    <table class="rows">
      <tbody>
        {rows.map(([label, text], index) => (
          <tr key={index}>
            <th scope="row">{label}</th>
            <td>
              <code>{visible(text)}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ItemProps {
  readonly id: string;
  readonly isOpenAtFirst: boolean;
  readonly tone: string;
  readonly head: ComponentChildren;
  /** Made only while it is open. */
  readonly children: () => ComponentChildren;
}

/** Something that opens. */
export function Item({ id, isOpenAtFirst, tone, head, children }: ItemProps) {
  const open = isOpen(id, isOpenAtFirst);
  return (
    <li class={`item ${tone}`}>
      <button type="button" class="head" aria-expanded={open} onClick={() => toggle(id)}>
        {head}
      </button>
      {open && <div class="inside">{children()}</div>}
    </li>
  );
}

const AT_FIRST = 200;

/** The first of a list, and the rest when it is asked for: a page with thousands of rows stays quick. */
export function More<Of>({
  list,
  each,
}: {
  readonly list: readonly Of[];
  readonly each: (one: Of, index: number) => ComponentChildren;
}) {
  const [shown, setShown] = useState(AT_FIRST);
  return (
    <>
      {list.slice(0, shown).map(each)}
      {list.length > shown && (
        <li class="more">
          <button type="button" onClick={() => setShown(shown * 5)}>
            Show more of {countText(list.length - shown)} further
          </button>
        </li>
      )}
    </>
  );
}
