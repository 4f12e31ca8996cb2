import { pointerTo } from '../../diagnostics/diagnostic.ts';

/** What `export` writes instead of a secret; `apply` keeps the stored secret of the same object. */
export const NOT_EXPORTED = '<not exported>';

/** Replaces a value; `place` is its JSON pointer: `/oauth/provider/google/client_secret`. */
export type ValueChange = (value: unknown, place: string) => unknown;

/**
 * A value with a part replaced, or several, that facts and resources declare by their path: a JSON pointer below the
 * value, in which `*` is every key. The same value if nothing is replaced. `at` is the place of the value itself.
 */
export function changedAt(value: unknown, path: string, at: string, change: ValueChange): unknown {
  return below(value, path.split('/').slice(1), at, change);
}

function below(value: unknown, path: readonly string[], place: string, change: ValueChange): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value, place);
  if (typeof value !== 'object' || value === null) return value;
  const changes: Record<string, unknown> = {};
  const keys = key === '*' ? Object.keys(value) : Object.hasOwn(value, key) ? [key] : [];
  for (const name of keys) {
    const each = (value as Readonly<Record<string, unknown>>)[name];
    const next = below(each, rest, pointerTo(place, name), change);
    if (next !== each) changes[name] = next;
  }
  return Object.keys(changes).length === 0 ? value : { ...value, ...changes };
}
