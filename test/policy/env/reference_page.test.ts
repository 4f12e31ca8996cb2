import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EVENT_FILTER_SCOPE } from '../../../src/events/filter_scope.ts';
import { expressionReferencePage } from '../../../src/policy/env/reference_page.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';

const page = expressionReferencePage(EVENT_FILTER_SCOPE.variables.values());
const cell = (text: string): string => text.replaceAll('|', '\\|');

describe('docs/reference/expressions.md', () => {
  test('is up to date with the tables', () => {
    expect(readFileSync(new URL('../../../docs/reference/expressions.md', import.meta.url), 'utf8')).toBe(
      page,
    );
  });

  test('names every variable, and every function with its example', () => {
    const scope = scopeFor('on_http_response');
    const missing = [...scope.variables.keys()].filter((name) => !page.includes(`| \`${name}\` |`));
    const untold = scope.functions.rows.filter(
      (row) => !page.includes(cell(row.example)) || !page.includes(cell(row.doc)),
    );
    expect([...missing, ...untold.map((row) => row.name)]).toEqual([]);
  });

  test('has tables with the same number of cells in every row', () => {
    const widths = new Set<number>();
    let width = 0;
    for (const line of page.split('\n')) {
      const cells = line.startsWith('|') ? line.replaceAll('\\|', '').split('|').length : 0;
      if (width > 0 && cells > 0 && cells !== width) widths.add(cells);
      width = cells;
    }
    expect([...widths]).toEqual([]);
  });
});
