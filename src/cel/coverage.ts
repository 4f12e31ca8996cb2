import type { Span } from '../diagnostics/diagnostic.ts';
import { type Node, walkNodes } from './ast.ts';
import type { Evaluate } from './function_table.ts';
import type { Observer } from './plan/plan.ts';
import { planTyped } from './plan/planner.ts';
import type { Program } from './program.ts';
import type { Outcome } from './values.ts';

/** A sub-expression that can be true or false. The id is stable for one source text. */
export interface BooleanNode {
  readonly id: number;
  readonly span: Span;
  /** Number of times that it was true. */
  readonly yes: number;
  /** Number of times that it was false. */
  readonly no: number;
  /** Number of times that it was an error. */
  readonly failed: number;
}

export interface Coverage<A> {
  readonly evaluate: (activation: A) => Outcome;
  /** The counts so far, outer before inner. */
  readonly nodes: () => readonly BooleanNode[];
}

/**
 * The same program compiled with counters: both outcomes of every boolean sub-expression, over many
 * evaluations.
 */
export function coverageOf<A>(program: Program<A>): Coverage<A> {
  const { ast } = program.typed;
  const yes = new Uint32Array(ast.nodeCount);
  const no = new Uint32Array(ast.nodeCount);
  const failed = new Uint32Array(ast.nodeCount);
  const observer: Observer<A> = {
    wrap: (node, run) => (isBoolean(program, node) ? counting(node.id, run, yes, no, failed) : run),
    // A constant has only one outcome, independent of the activation.
    constant: () => undefined,
  };
  const { evaluate } = planTyped(program.typed, { observer, lenient: program.lenient });
  return { evaluate, nodes: () => counts(program, yes, no, failed) };
}

function isBoolean<A>(program: Program<A>, node: Node): boolean {
  return node.kind !== 'literal' && program.typed.types[node.id]?.kind === 'bool';
}

function counting<A>(
  id: number,
  run: Evaluate<A>,
  yes: Uint32Array,
  no: Uint32Array,
  failed: Uint32Array,
): Evaluate<A> {
  return (activation) => {
    const outcome = run(activation);
    const counters = outcome === true ? yes : outcome === false ? no : failed;
    counters[id]! += 1;
    return outcome;
  };
}

function counts<A>(
  program: Program<A>,
  yes: Uint32Array,
  no: Uint32Array,
  failed: Uint32Array,
): BooleanNode[] {
  const nodes: BooleanNode[] = [];
  walkNodes(program.typed.ast.root, (node) => {
    if (!isBoolean(program, node)) return;
    nodes.push({
      id: node.id,
      span: node.span,
      yes: yes[node.id]!,
      no: no[node.id]!,
      failed: failed[node.id]!,
    });
  });
  return nodes;
}
