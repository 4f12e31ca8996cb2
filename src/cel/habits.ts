import type { Span } from '../diagnostics/diagnostic.ts';
import type { Binary, Call, Name, Node, Select } from './ast.ts';
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

/** Why `headers.user-agent` is not the field of that name. */
export const DASH_MESSAGE = 'the dash is a minus sign here: a name with a dash is written in brackets';

/** A field whose name has dashes, without the brackets that it needs. */
export interface DashedField {
  /** What the rest is parsed as being subtracted from. */
  readonly select: Select;
  readonly name: string;
  /** The word after the first dash. */
  readonly second: Node;
  readonly span: Span;
}

/** `headers.user-agent`, which subtracts `agent` from `headers.user`, also before `.contains('x')`. */
export function dashedField(node: Binary): DashedField | undefined {
  const words: Name[] = [];
  let left: Node = node;
  while (left.kind === 'binary' && left.operator === '-') {
    const word: Node = left === node ? beginningOf(left.right) : left.right;
    if (word.kind !== 'name') return undefined;
    words.unshift(word);
    ({ left } = left);
  }
  const [second] = words;
  if (left.kind !== 'select' || left.optional || second === undefined) return undefined;
  const name = [left.field, ...words.map((word) => word.name)].join('-');
  const { end } = words.at(-1)!.span;
  // With spaces around it, a dash is meant as a minus sign.
  if (end - left.fieldSpan.start !== name.length) return undefined;
  return { select: left, name, second, span: { start: left.span.start, end } };
}

/** `type` in `type.contains('x')[0]`. */
function beginningOf(node: Node): Node {
  if (node.kind === 'select' || node.kind === 'index') return beginningOf(node.operand);
  if (node.kind === 'macro') return beginningOf(node.target);
  return node.kind === 'call' && node.target !== undefined ? beginningOf(node.target) : node;
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
