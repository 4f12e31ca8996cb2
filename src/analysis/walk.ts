import type { Atom } from './atoms.ts';
import { type Diagram, topOf, under } from './diagram.ts';
import type { Assignment, Solver } from './relations.ts';
import { isChanged, isOfRequest } from './setting.ts';

/** Maximum number of classes that are visited in one cell. */
export const CLASS_LIMIT = 4_000;

/**
 * Visits the classes of requests that several diagrams distinguish together, except for those that certainly have no
 * request. False if there are too many. `isDone` says that a part needs no visit.
 */
export function eachClass<Leaf>(
  diagrams: readonly Diagram<Leaf>[],
  solver: Solver,
  isDone: (diagrams: readonly Diagram<Leaf>[]) => boolean,
  visit: (assignment: Assignment, leaves: readonly Leaf[]) => void,
): boolean {
  let left = CLASS_LIMIT;
  const path: { readonly atom: Assignment[number]['atom']; readonly value: boolean }[] = [];
  const walk = (nodes: readonly Diagram<Leaf>[]): void => {
    if (left <= 0 || isDone(nodes)) return;
    const leaves = nodes.flatMap((node) => ('leaf' in node ? [node.leaf] : []));
    const next = leaves.length === nodes.length ? null : topOf(nodes);
    const last = path.at(-1)?.atom;
    // What one field rules out needs no look at the others.
    if (last !== undefined && next?.field !== last.field && solver.isImpossible(path, last)) return;
    if (next === null) {
      left--;
      visit([...path], leaves);
      return;
    }
    for (const side of ['yes', 'no'] as const) {
      path.push({ atom: next, value: side === 'yes' });
      walk(nodes.map((node) => under(node, next, side)));
      path.pop();
    }
  };
  walk(diagrams);
  return left > 0;
}

/** The conditions of a class in words; what is not said may be anything. */
export function conditionsOf(assignment: Assignment): readonly string[] {
  return assignment.map(({ atom, value }) => (value ? atom.message : `not: ${atom.message}`));
}

/** What an assignment says about conditions that the request alone does not decide. */
export function opaqueIn(assignment: Assignment): readonly string[] {
  return assignment.flatMap(({ atom }) => {
    if (isDecidedByRequest(atom)) return [];
    return [
      isChanged(atom.field.name) ? `${atom.message}, after an earlier action that changes it` : atom.message,
    ];
  });
}

export function isDecidedByRequest({ kind, field }: Atom): boolean {
  if (kind === 'opaque') return false;
  return kind === 'address' || isOfRequest(field.name);
}
