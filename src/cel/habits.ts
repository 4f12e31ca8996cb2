import type { Call } from './ast.ts';
import { isTextual } from './types.ts';
import type { Type } from './types.ts';

/** What people write who know other languages, and what it is called here. */

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

/** The function that is meant by a name from elsewhere. */
export function functionMeant(name: string): string | undefined {
  return NAMES.get(name);
}

/** The functions of texts that lists lack. */
const SEARCHES: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith', 'matches']);

/** `list.contains('x')`: whether one value contains it, or is it. */
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
