import { countText } from '../../pages/units.ts';
import { visibleLine } from '../../pages/visible.ts';
import type { ListReport, ReportedGroup } from '../data.ts';
import { Figures, Item, More, Rows, Table } from './parts.tsx';
import { isFound, onlyBad, query } from './search.ts';

/** Findings in groups. */
export function ListView({ report: { figures, tables, groups } }: { readonly report: ListReport }) {
  const searched = query.value;
  const shown = groups
    .filter(({ tone }) => !onlyBad.value || tone === 'bad' || tone === 'odd')
    .map(({ name, tone, count, items }) => ({
      name,
      tone,
      count,
      items: items.filter(({ title, rows }) => isFound(searched, () => [name, title, ...rows.flat()])),
    }))
    .filter(({ items }) => searched === '' || items.length > 0);
  return (
    <>
      <Figures figures={figures} />
      {tables.map((table) => (
        <Table key={table.title} table={table} />
      ))}
      {shown.map((group) => (
        <Group key={group.name} group={group} isSearched={searched !== ''} />
      ))}
      {shown.length === 0 && <p class="quiet">Nothing to show.</p>}
    </>
  );
}

function Group({
  group: { name, tone, count, items },
  isSearched,
}: {
  readonly group: ReportedGroup;
  readonly isSearched: boolean;
}) {
  const left = isSearched ? 0 : count - items.length;
  return (
    <section>
      <h2 class={tone}>
        {visibleLine(name)} <small class="quiet">{countText(isSearched ? items.length : count)}</small>
      </h2>
      <ul class="items">
        <More
          list={items}
          each={({ title, rows, isOpen }, index) =>
            rows.length === 0 ? (
              <li key={index} class={`item ${tone}`}>
                <span class="head">{visibleLine(title)}</span>
              </li>
            ) : (
              <Item
                key={index}
                id={`${name} ${index} ${title}`}
                tone={tone}
                isOpenAtFirst={isOpen}
                head={<span class="name">{visibleLine(title)}</span>}
              >
                {() => <Rows rows={rows} />}
              </Item>
            )
          }
        />
      </ul>
      {left > 0 && <p class="quiet">{countText(left)} more are not listed.</p>}
    </section>
  );
}
