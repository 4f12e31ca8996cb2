import type { Binary, Call, Node } from './ast.ts';
import { type Checker, sourceOf } from './checking.ts';

/** Conditions that make reads of what may be missing safe. */

/** The key of a map of the scope that a call tests, reads, or gives the list of. */
export function keyOfCall<A>(
  checker: Checker<A>,
  node: Call,
  role: 'test' | 'read' | 'list',
): { readonly map: string; readonly key: string; readonly foldsCase: boolean } | undefined {
  const key = checker.scope.functions.functions.get(node.name)?.key;
  const [name] = node.args;
  if (key?.role !== role || node.target !== undefined) return undefined;
  if (name?.kind !== 'literal' || typeof name.value !== 'string') return undefined;
  return { map: key.map, key: name.value, foldsCase: key.foldsCase === true };
}

/** Names of headers are case-insensitive. */
export function guardKey(map: string, key: string, foldsCase: boolean): string {
  return foldsCase ? `${map}\0folded\0${key.toLowerCase()}` : `${map}\0${key}`;
}

function guardsOfKey(map: string, key: string): readonly string[] {
  return [guardKey(map, key, false), guardKey(map, key, true)];
}

export function guardOf(path: string): string {
  return `${path}\0`;
}

/** The reads that cannot fail where `node` is known to be `truth`. */
export function guardsOf<A>(checker: Checker<A>, node: Node, truth: boolean): readonly string[] {
  if (node.kind === 'unary' && node.operator === '!') return guardsOf(checker, node.operand, !truth);
  if (node.kind === 'logic' && (node.operator === '&&') === truth) {
    return node.terms.flatMap((term) => guardsOf(checker, term, truth));
  }
  if (!truth) return [];
  if (node.kind === 'has') {
    const { operand, field } = node.select;
    return [...guardsOfKey(sourceOf(checker, operand), field), guardOf(sourceOf(checker, node.select))];
  }
  if (node.kind === 'call') {
    const tested = keyOfCall(checker, node, 'test');
    return tested === undefined ? [] : guardsOfKey(tested.map, tested.key);
  }
  if (node.kind !== 'binary') return [];
  if (node.operator === '>' || node.operator === '!=') return guardsOfSize(checker, node);
  if (node.operator !== 'in') return [];
  if (node.left.kind !== 'literal' || typeof node.left.value !== 'string') return [];
  return guardsOfKey(sourceOf(checker, node.right), node.left.value);
}

/** `size(getReqHeader('x')) > 0`. */
function guardsOfSize<A>(checker: Checker<A>, { left, right }: Binary): readonly string[] {
  if (left.kind !== 'call' || left.name !== 'size' || right.kind !== 'literal' || right.value !== 0)
    return [];
  const sized = left.target ?? left.args[0];
  const listed = sized?.kind === 'call' ? keyOfCall(checker, sized, 'list') : undefined;
  return listed === undefined ? [] : guardsOfKey(listed.map, listed.key);
}
