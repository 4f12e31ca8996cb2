import type { Span } from '../diagnostics/diagnostic.ts';
import { childrenOf, walkNodes } from './ast.ts';
import type { Node } from './ast.ts';
import type { Evaluate } from './function_table.ts';
import type { Observer } from './plan/plan.ts';
import { planTyped } from './plan/planner.ts';
import type { Program } from './program.ts';
import type { Typed } from './typed.ts';
import { EvalError } from './values.ts';
import type { Outcome } from './values.ts';

/** What became of one sub-expression. */
export interface Step {
  readonly id: number;
  readonly span: Span;
  /** The value or error; in a loop, that of the last turn, which is the one that decided. Absent when skipped. */
  readonly outcome: Outcome | undefined;
  /** How many times it was evaluated: 0 when it was skipped, more than 1 only inside loops. */
  readonly times: number;
  /** For skipped ones: why, in one sentence; and the sub-expression that decided. */
  readonly skipped: { readonly because: string; readonly span: Span } | undefined;
}

export interface Explanation {
  readonly outcome: Outcome;
  /** Every sub-expression, outer before inner, in source order. Literals are left out. */
  readonly steps: readonly Step[];
}

/** A program that also records the value of every sub-expression, at less than twice the time. */
export interface Tracer<A> {
  readonly evaluate: (activation: A) => Outcome;
  /** The steps of the last evaluation; built when asked for. */
  readonly steps: () => readonly Step[];
}

/** The same program compiled with an observer. Keep it where one program is explained many times. */
export function tracer<A>(program: Program<A>): Tracer<A> {
  const { ast } = program.typed;
  // Filled at planning; one slot for each node, and a mark of the run that wrote it.
  const outcomes: (Outcome | undefined)[] = Array.from({ length: ast.nodeCount });
  const runs = new Float64Array(ast.nodeCount);
  const times = new Uint32Array(ast.nodeCount);
  const constants = new Set<number>();
  const now = { run: 0 };
  const observer: Observer<A> = {
    wrap: (node, run) => recording(node.id, run, { outcomes, runs, times, now }),
    constant: (node, value) => {
      outcomes[node.id] = value;
      constants.add(node.id);
    },
  };
  const { evaluate } = planTyped(program.typed, { observer, lenient: program.lenient });
  return {
    evaluate: (activation) => {
      now.run += 1;
      return evaluate(activation);
    },
    steps: () => {
      const ran = (id: number): boolean => constants.has(id) || (runs[id] === now.run && now.run > 0);
      return stepsOf(program.typed, { outcomes, times, ran, constants });
    },
  };
}

interface Record {
  readonly outcomes: (Outcome | undefined)[];
  readonly runs: Float64Array;
  readonly times: Uint32Array;
  readonly now: { run: number };
}

function recording<A>(id: number, run: Evaluate<A>, { outcomes, runs, times, now }: Record): Evaluate<A> {
  return (activation) => {
    const outcome = run(activation);
    outcomes[id] = outcome;
    if (runs[id] === now.run) times[id]! += 1;
    else {
      runs[id] = now.run;
      times[id] = 1;
    }
    return outcome;
  };
}

/** Evaluates once and tells the value of each sub-expression, what was skipped and why. Never throws. */
export function explain<A>(program: Program<A>, activation: A): Explanation {
  const { evaluate, steps } = tracer(program);
  const outcome = evaluate(activation);
  return { outcome, steps: steps() };
}

interface Seen {
  readonly outcomes: readonly (Outcome | undefined)[];
  readonly times: Uint32Array;
  readonly ran: (id: number) => boolean;
  readonly constants: ReadonlySet<number>;
}

function stepsOf<A>({ ast, meanings }: Typed<A>, seen: Seen): readonly Step[] {
  const reasons = new Map<number, Step['skipped']>();
  const steps: Step[] = [];
  walkNodes(ast.root, (node) => {
    const ran = seen.ran(node.id);
    // `req` in `req.method` is no expression of its own.
    const parts = meanings[node.id]?.means === 'variable' ? [] : childrenOf(node);
    for (const child of parts) {
      if (seen.ran(child.id)) continue;
      const reason = ran ? reasonFor(node, child, seen) : reasons.get(node.id);
      if (reason !== undefined) reasons.set(child.id, reason);
    }
    if (node.kind === 'literal') return;
    const skipped = reasons.get(node.id);
    // Parts of a path or of a folded constant have no life of their own.
    if (!ran && skipped === undefined) return;
    const times = ran ? Math.max(1, seen.times[node.id] ?? 0) : 0;
    const outcome = ran ? seen.outcomes[node.id] : undefined;
    steps.push({ id: node.id, span: node.span, outcome, times, skipped: ran ? undefined : skipped });
  });
  return steps;
}

/** Why `child` was not evaluated although `node` was; undefined when it is part of a path or constant. */
function reasonFor(node: Node, child: Node, seen: Seen): Step['skipped'] {
  if (node.kind === 'logic') {
    const deciding = node.operator === '||';
    const decider = node.terms.find((term) => seen.ran(term.id) && seen.outcomes[term.id] === deciding);
    if (decider === undefined) return undefined;
    return { because: `\`${node.operator}\` was decided: this side is ${deciding}`, span: decider.span };
  }
  if (node.kind === 'conditional' && child !== node.condition) {
    const holds = seen.outcomes[node.condition.id];
    const because = typeof holds === 'boolean' ? `the condition is ${holds}` : 'the condition is an error';
    return { because, span: node.condition.span };
  }
  if (node.kind === 'macro' && child !== node.target) return skippedBody(node, child, seen);
  const failed = childrenOf(node).find(
    (other) => seen.ran(other.id) && seen.outcomes[other.id] instanceof EvalError,
  );
  return failed === undefined ? undefined : { because: 'an operand is an error', span: failed.span };
}

function skippedBody(node: Extract<Node, { kind: 'macro' }>, child: Node, seen: Seen): Step['skipped'] {
  const target = seen.outcomes[node.target.id];
  if (target instanceof EvalError)
    return { because: 'what it goes over is an error', span: node.target.span };
  const first = node.bodies[0];
  if (first !== undefined && child !== first && seen.ran(first.id)) {
    return { because: 'no element passed the condition', span: first.span };
  }
  return { because: 'there was nothing to go over', span: node.target.span };
}
