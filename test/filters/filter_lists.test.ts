import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filterLists } from '../../docs/filter_lists.ts';

test('the generated lists match the table', async () => {
  const lists = await filterLists();
  expect(lists).toHaveLength(4);
  for (const [path, text] of lists) {
    expect([path, readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')]).toEqual([path, text]);
  }
});
