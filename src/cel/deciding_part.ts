import type { Span } from '../diagnostics/diagnostic.ts';
import { type Node, childrenOf } from './ast.ts';
import type { Step } from './explain.ts';
import type { Program } from './program.ts';
import type { Outcome } from './values.ts';

/** The smallest part of an expression that decided its outcome, with the values that it was decided by. */
export interface DecidingPart {
  readonly span: Span;
  readonly outcome: Outcome;
  /** The operands that are not literals. */
  readonly operands: readonly { readonly span: Span; readonly outcome: Outcome }[];
}

/** Of `a && b` the first side that is false, of `a || b` the first that is true; null if nothing was evaluated. */
export function decidingPart<A>({ typed }: Program<A>, steps: readonly Step[]): DecidingPart | null {
  const outcomes = new Map(steps.map(({ id, outcome }) => [id, outcome]));
  const node = decider(typed.ast.root, outcomes);
  const outcome = outcomes.get(node.id);
  if (outcome === undefined) return null;
  const operands = isVariable(node, typed.meanings) ? [] : childrenOf(node);
  return {
    span: node.span,
    outcome,
    operands: operands.flatMap(({ id, kind, span }) => {
      const value = outcomes.get(id);
      return value === undefined || kind === 'literal' ? [] : [{ span, outcome: value }];
    }),
  };
}

function decider(node: Node, outcomes: ReadonlyMap<number, Outcome | undefined>): Node {
  if (node.kind === 'unary' && node.operator === '!') return decider(node.operand, outcomes);
  if (node.kind !== 'logic') return node;
  const decides = node.operator === '||';
  const side = node.terms.find(({ id }) => outcomes.get(id) === decides);
  // With no such side, all of them decided together.
  return side === undefined ? node : decider(side, outcomes);
}

function isVariable({ id }: Node, meanings: Program<never>['typed']['meanings']): boolean {
  return meanings[id]?.means === 'variable';
}
