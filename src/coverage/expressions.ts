import { type Node, childrenOf } from '../cel/ast.ts';
import type { Evaluate } from '../cel/function_table.ts';
import type { Observer } from '../cel/plan/plan.ts';
import { planTyped } from '../cel/plan/planner.ts';
import type { Program } from '../cel/program.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { Outcome } from '../cel/values.ts';
import { type DecisionShape, decisionsOf } from './decisions.ts';
import { type DecisionRecord, conditionWatch, decisionRecord, decisionWatch } from './vectors.ts';

/** How often the boolean nodes of one expression were true, false or an error; plain arrays by node id. */
interface ExpressionRecord {
  readonly yes: number[];
  readonly no: number[];
  readonly failed: number[];
  /** One for each decision of the expression, in order. */
  readonly decisions: readonly DecisionRecord[];
}

/** A compiled expression with its structure and its recording. */
export interface WatchedExpression {
  /** JSON pointer of the string that contains it, and its offset there. */
  readonly pointer: string;
  readonly start: number;
  readonly program: Program<Activation>;
  /** Boolean nodes that are evaluated, outer before inner. */
  readonly nodes: readonly Node[];
  /** Boolean nodes that are constant, including literals. */
  readonly constants: ReadonlyMap<Node, boolean>;
  readonly decisions: readonly DecisionShape[];
  readonly record: ExpressionRecord;
}

/** Is called when an outcome of a node, or a vector of a decision, was observed for the first time. */
export type NewObservation = (what: 'outcomes' | 'vectors') => void;

/** Plans an expression with counters. An existing record must be of the same source. */
export function watchExpression(
  program: Program<Activation>,
  pointer: string,
  start: number,
  known: WatchedExpression | undefined,
  isNew: NewObservation,
): { readonly watched: WatchedExpression; readonly evaluate: (activation: Activation) => Outcome } {
  const { ast } = program.typed;
  const decisions = known?.decisions ?? decisionsOf(program);
  const record = known?.record ?? {
    yes: zeros(ast.nodeCount),
    no: zeros(ast.nodeCount),
    failed: zeros(ast.nodeCount),
    decisions: decisions.map((shape) => decisionRecord(shape)),
  };
  const planned = new Set<Node>();
  const constants = new Map<Node, boolean>();
  const observer: Observer<Activation> = {
    wrap: (node, run) => {
      if (!isTruth(program, node)) return run;
      planned.add(node);
      return around(node, run, decisions, record, isNew);
    },
    constant: (node, value) => {
      if (typeof value === 'boolean') constants.set(node, value);
    },
  };
  const { evaluate } = planTyped(program.typed, { observer, lenient: program.lenient });
  const nodes = inOrder(ast.root).filter((node) => planned.has(node));
  const watched = known ?? { pointer, start, program, nodes, constants, decisions, record };
  return { watched, evaluate };
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

/** Whether a node is of type bool. Literals are too, but are handled before. */
function isTruth({ typed }: Program<Activation>, node: Node): boolean {
  return typed.types[node.id]?.kind === 'bool';
}

/** Adds counters to a node and, if it is a condition, records its outcome in the decision's vector. */
function around(
  { id }: Node,
  run: Evaluate<Activation>,
  decisions: readonly DecisionShape[],
  record: ExpressionRecord,
  isNew: NewObservation,
): Evaluate<Activation> {
  const { yes, no, failed } = record;
  let watched: Evaluate<Activation> = (activation) => {
    const outcome = run(activation);
    const counters = outcome === true ? yes : outcome === false ? no : failed;
    const before = counters[id]!;
    if (before === 0) isNew('outcomes');
    counters[id] = before + 1;
    return outcome;
  };
  const isNewVector = (): void => isNew('vectors');
  for (const [index, { root, conditions }] of decisions.entries()) {
    const at = conditions.findIndex((condition) => condition.id === id);
    if (at >= 0) watched = conditionWatch(record.decisions[index]!, at, watched);
    if (root.id === id) watched = decisionWatch(record.decisions[index]!, watched, isNewVector);
  }
  return watched;
}

/** All nodes, outer before inner, in source order. */
function inOrder(root: Node): Node[] {
  return [root, ...childrenOf(root).flatMap((child) => inOrder(child))];
}
