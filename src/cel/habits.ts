import type { Call } from './ast.ts';
import { type Type, isTextual } from './types.ts';

/** Names from other languages and their names in CEL. */

// A map, because a name may be `toString`.
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    count: 'size',
    downcase: 'lower',
    hasPrefix: 'startsWith',
    hasSuffix: 'endsWith',
    includes: 'contains',
    len: 'size',
    length: 'size',
    match: 'matches',
    regexMatch: 'matches',
    some: 'exists',
    every: 'all',
    substr: 'substring',
    test: 'matches',
    toLower: 'lower',
    toLowerCase: 'lower',
    toUpper: 'upper',
    toUpperCase: 'upper',
  }),
);

/** The function that corresponds to a name from another language. */
export function functionMeant(name: string): string | undefined {
  return NAMES.get(name);
}

/** Functions of strings that lists do not have. */
const SEARCHES: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith', 'matches']);

/** The replacement for `list.contains('x')`: a test whether any element contains, or equals, the value. */
export function searchMeant(
  node: Call,
  types: readonly Type[],
  sourceOf: (of: Call['args'][number]) => string,
) {
  const [list] = types;
  const [wanted] = node.args;
  if (node.target === undefined || wanted === undefined || !SEARCHES.has(node.name)) return undefined;
  if (list?.kind !== 'list' || !(isTextual(list.element) || list.element.kind === 'dyn')) return undefined;
  return `${sourceOf(node.target)}.exists(value, value.${node.name}(${sourceOf(wanted)}))`;
}
