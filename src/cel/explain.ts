import type { Span } from '../diagnostics/diagnostic.ts';
import { type MacroNode, type Node, childrenOf } from './ast.ts';
import { sizeOfMap } from './equality.ts';
import type { Evaluate } from './function_table.ts';
import type { Observer, Slot } from './plan/plan.ts';
import { planTyped } from './plan/planner.ts';
import type { Program } from './program.ts';
import { type Outcome, EvalError, isMap, Optional } from './values.ts';

/** The result of one sub-expression. */
export interface Step {
  readonly id: number;
  readonly span: Span;
  /** The value or error; in a loop, that of the last iteration, which is the deciding one. Absent if skipped. */
  readonly outcome: Outcome | undefined;
  /** Number of evaluations: 0 if skipped, more than 1 only inside loops. */
  readonly times: number;
  /** For skipped ones: the reason in one sentence, and the sub-expression that decided. */
  readonly skipped: Skipped | undefined;
}

interface Skipped {
  readonly reason: string;
  readonly span: Span;
}

export interface Explanation {
  readonly outcome: Outcome;
  /** Every sub-expression, outer before inner, in source order. Literals are omitted. */
  readonly steps: readonly Step[];
}

/** A program that also records its evaluation, in less than twice the time. */
export interface Tracer<A> {
  readonly evaluate: (activation: A) => Outcome;
  /**
   * The steps of the last evaluation; built on request. Variables are read again from its activation, which
   * must not have changed.
   */
  readonly steps: () => readonly Step[];
}

interface Recorded extends Slot {
  /** The last evaluation that wrote it, and the number of writes: kept inside loops only. */
  run: number;
  times: number;
}

/** Records of the last evaluation, by node id. */
interface Record<A> {
  readonly slots: (Recorded | undefined)[];
  readonly constants: Map<number, Outcome>;
  readonly leaves: Map<number, Evaluate<A>>;
  run: number;
  activation: A | undefined;
}

/** The same program compiled with an observer. Keep it if one program is explained many times. */
export function tracer<A>(program: Program<A>): Tracer<A> {
  const record: Record<A> = {
    slots: [],
    constants: new Map(),
    leaves: new Map(),
    run: 0,
    activation: undefined,
  };
  const observer = recorder(record);
  const { evaluate } = planTyped(program.typed, { observer, lenient: program.lenient });
  return {
    evaluate: (activation) => {
      record.run += 1;
      record.activation = activation;
      return evaluate(activation);
    },
    steps: () => stepsOf(program, record),
  };
}

function recorder<A>(record: Record<A>): Observer<A> {
  const slotOf = (node: Node): Recorded =>
    (record.slots[node.id] ??= { outcome: undefined, run: 0, times: 1 });
  return {
    wrap: (node, run, inLoop) =>
      inLoop ? countingInto(slotOf(node), run, record) : recordingInto(slotOf(node), run),
    constant: (node, value) => record.constants.set(node.id, value),
    leaf: (node, run) => record.leaves.set(node.id, run),
    slot: slotOf,
  };
}

/** Outside loops only the outcome is kept: what was reached follows from the outcomes above it. */
function recordingInto<A>(slot: Recorded, run: Evaluate<A>): Evaluate<A> {
  return (activation) => (slot.outcome = run(activation));
}

function countingInto<A>(slot: Recorded, run: Evaluate<A>, record: Record<A>): Evaluate<A> {
  return (activation) => {
    const outcome = run(activation);
    slot.outcome = outcome;
    slot.times = slot.run === record.run ? slot.times + 1 : 1;
    slot.run = record.run;
    return outcome;
  };
}

/** Evaluates once and returns the value of each sub-expression, what was skipped and why. Never throws. */
export function explain<A>(program: Program<A>, activation: A): Explanation {
  const { evaluate, steps } = tracer(program);
  const outcome = evaluate(activation);
  return { outcome, steps: steps() };
}

/** Reads the records of one evaluation. */
interface Reader {
  /** The outcome of a node that was reached; undefined for parts without an outcome of their own. */
  readonly outcomeOf: (node: Node) => Outcome | undefined;
  readonly slotOf: (node: Node) => Recorded | undefined;
  /** Whether a node inside a loop was written by this evaluation. */
  readonly isFresh: (node: Node) => boolean;
}

function stepsOf<A>(program: Program<A>, record: Record<A>): readonly Step[] {
  const { ast, meanings } = program.typed;
  const { slots, constants, leaves } = record;
  const reader: Reader = {
    outcomeOf: ({ id }) => constants.get(id) ?? slots[id]?.outcome ?? readAgain(leaves.get(id), record),
    slotOf: ({ id }) => slots[id],
    isFresh: ({ id }) => slots[id]?.run === record.run,
  };
  const steps: Step[] = [];
  if (record.run === 0) return steps;
  const visit = (node: Node, times: number, skipped: Skipped | undefined): void => {
    const outcome = skipped === undefined ? reader.outcomeOf(node) : undefined;
    if (skipped === undefined && outcome === undefined && node.kind !== 'literal') return;
    if (node.kind !== 'literal') {
      steps.push({
        id: node.id,
        span: node.span,
        outcome,
        times: skipped === undefined ? times : 0,
        skipped,
      });
    }
    // `req` in `req.method` is not an expression of its own.
    if (meanings[node.id]?.means === 'variable') return;
    for (const child of childrenOf(node)) {
      const own = reader.slotOf(child);
      const turns = own !== undefined && own.run > 0 ? own.times : times;
      visit(child, turns, skipped ?? reasonFor(node, child, reader));
    }
  };
  visit(ast.root, 1, undefined);
  return steps;
}

function readAgain<A>(run: Evaluate<A> | undefined, record: Record<A>): Outcome | undefined {
  try {
    return run?.(record.activation as A);
  } catch {
    return undefined;
  }
}

/** Why `child` was not reached although `node` was; undefined if it was reached. */
function reasonFor(node: Node, child: Node, reader: Reader): Skipped | undefined {
  if (node.kind === 'logic') {
    const deciding = node.operator === '||';
    const earlier = node.terms.slice(0, node.terms.indexOf(child));
    const decider = earlier.find((term) => reader.outcomeOf(term) === deciding);
    if (decider === undefined) return undefined;
    return { reason: `\`${node.operator}\` was decided: this side is ${deciding}`, span: decider.span };
  }
  if (node.kind === 'conditional') {
    if (child === node.condition) return undefined;
    const holds = reader.outcomeOf(node.condition);
    if (holds === (child === node.yes)) return undefined;
    const reason = typeof holds === 'boolean' ? `the condition is ${holds}` : 'the condition is an error';
    return { reason, span: node.condition.span };
  }
  if (node.kind === 'bind') return undefined;
  if (node.kind === 'macro') return child === node.target ? undefined : skippedBody(node, child, reader);
  const children = childrenOf(node);
  const failed = children
    .slice(0, children.indexOf(child))
    .find((earlier) => reader.outcomeOf(earlier) instanceof EvalError);
  return failed === undefined ? undefined : { reason: 'an operand is an error', span: failed.span };
}

function skippedBody(node: MacroNode, child: Node, reader: Reader): Skipped | undefined {
  const target = reader.outcomeOf(node.target);
  const { span } = node.target;
  if (target instanceof EvalError) return { reason: 'the iterated value is an error', span };
  if (target instanceof Optional) {
    const wantsValue = node.variables.length > 0;
    if (wantsValue === (target.value !== undefined)) return undefined;
    return { reason: wantsValue ? 'the optional is empty' : 'the optional holds a value', span };
  }
  if (target === undefined || isEmpty(target)) return { reason: 'there were no elements', span };
  const first = node.bodies[0];
  if (first === undefined || child === first || reader.isFresh(child)) return undefined;
  return reader.outcomeOf(first) === true
    ? undefined
    : { reason: 'no element passed the condition', span: first.span };
}

function isEmpty(target: Outcome): boolean {
  if (Array.isArray(target)) return target.length === 0;
  return !isMap(target) || sizeOfMap(target) === 0;
}
