import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filterLists } from '../../docs/filter_lists.ts';
import { filtersPage } from '../../docs/filters_page.ts';

test('the generated lists match the table', async () => {
  const lists = await filterLists();
  expect(lists).toHaveLength(4);
  for (const [path, text] of lists) {
    expect([path, readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')]).toEqual([path, text]);
  }
});

test('the page of filters is the one of their facts', () => {
  expect(readFileSync(new URL('../../docs/filters.md', import.meta.url), 'utf8')).toBe(filtersPage());
});
