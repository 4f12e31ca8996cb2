import { type Node, childrenOf } from '../cel/ast.ts';
import type { Program } from '../cel/program.ts';
import type { Activation } from '../policy/env/activation.ts';

/**
 * A decision in the sense of MC/DC: a largest expression of `&&`, `||`, `!` and `? :` over some conditions,
 * none of which contains these operators. An expression with a single condition is a decision too.
 */
export interface DecisionShape {
  readonly root: Node;
  readonly conditions: readonly Node[];
}

/** The decisions of an expression, outer before inner. Those without a variable condition are omitted. */
export function decisionsOf(program: Program<Activation>): DecisionShape[] {
  const found: DecisionShape[] = [];
  const { root } = program.typed.ast;
  const look = (node: Node): void => {
    if (isStructure(program, node) || (node === root && isTruth(program, node))) {
      const conditions = conditionsOf(program, node);
      const changing = conditions.filter(({ kind }) => kind !== 'literal');
      if (changing.length > 0) found.push({ root: node, conditions: changing });
      for (const condition of conditions) for (const child of childrenOf(condition)) look(child);
      return;
    }
    for (const child of childrenOf(node)) look(child);
  };
  look(root);
  return found;
}

function isTruth({ typed }: Program<Activation>, node: Node): boolean {
  return typed.types[node.id]?.kind === 'bool';
}

/** Whether a node only combines the truth values of others. */
function isStructure(program: Program<Activation>, node: Node): boolean {
  if (node.kind === 'logic') return true;
  if (node.kind === 'unary') return node.operator === '!';
  return node.kind === 'conditional' && isTruth(program, node);
}

function conditionsOf(program: Program<Activation>, node: Node): Node[] {
  return isStructure(program, node)
    ? childrenOf(node).flatMap((child) => conditionsOf(program, child))
    : [node];
}
