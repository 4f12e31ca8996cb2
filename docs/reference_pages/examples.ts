import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type Schema, inLine } from './schema_values.ts';

/** Values in which examples of keys are found: files of `fixtures/`, or examples of filters' facts. */
export type ExampleSource = readonly unknown[];

/** Files that are read whole, such as `fixtures/sample/edge.yaml`. */
export function fixture(path: string): unknown {
  return parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8'));
}

const LENGTH_LIMIT = 80;

/** The first short value of a key of this path, in one of the sources; none for a map with a table of its own. */
export function exampleOf(path: string, schema: Schema, sources: ExampleSource): string | undefined {
  if (schema.properties !== undefined || schema.const !== undefined) return undefined;
  const keys = path.replaceAll('[]', '.[]').split('.');
  for (const source of sources) {
    for (const value of valuesAt(source, keys)) {
      const text = inLine(value);
      const isPlain = schema.default === undefined || text !== inLine(schema.default);
      if (isPlain && text.length <= LENGTH_LIMIT && text !== '{}') return text;
    }
  }
  return undefined;
}

function valuesAt(value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] {
  if (key === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (key === '[]' || key === 'NAME') return Object.values(value).flatMap((each) => valuesAt(each, rest));
  const own = (value as Record<string, unknown>)[key];
  return own === undefined ? [] : valuesAt(own, rest);
}
