import { describe, expect, test } from 'vitest';
import { ACTION_FACTS } from '../../../src/filters/table.ts';
import { caseTables, playCase } from './case.ts';

const tables = caseTables();

describe.each(tables)('%s', (_table, cases) => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', (_name, each) => {
    for (const { seen, expected } of playCase(each)) expect(seen).toMatchObject(expected);
  });
});

test('every action has a table of cases', () => {
  const types = Array.from(ACTION_FACTS.keys(), (type) => type.replaceAll('-', '_'));
  expect(types.filter((type) => !tables.some(([table]) => table === type))).toEqual([]);
});
