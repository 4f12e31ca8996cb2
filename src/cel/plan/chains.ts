import type { Node } from '../ast.ts';
import type { Evaluate } from '../function_table.ts';
import type { Variable } from '../scope.ts';
import type { Value } from '../values.ts';
import type { Plan, Planner, Slot } from './plan.ts';

/** `X.startsWith('…')` or `X == '…'`, where X is a required string variable. */
interface Test<A> {
  readonly kind: 'prefix' | 'equal';
  readonly variable: Variable<A>;
  readonly constant: string;
}

/**
 * Consecutive terms of a `||` that test one variable against constants become one closure that reads the
 * variable once: `path.startsWith('/a') || path.startsWith('/b')`, `host == 'a' || host == 'b'`.
 */
export function fuseChain<A>(
  planner: Planner<A>,
  operator: '&&' | '||',
  nodes: readonly Node[],
  plans: readonly Plan<A>[],
): readonly Evaluate<A>[] {
  const { observer } = planner;
  const observable = observer === undefined || (observer.slot !== undefined && planner.loops === 0);
  if (operator === '&&' || !observable) return plans.map((plan) => plan.run);
  const runs: Evaluate<A>[] = [];
  for (let index = 0; index < nodes.length;) {
    const test = testOf(planner, nodes[index]!);
    const constants = test === undefined ? [] : constantsFrom(planner, nodes, index, test);
    const chained = nodes.slice(index, index + constants.length);
    if (test === undefined || constants.length === 1) runs.push(plans[index]!.run);
    else if (observer?.slot === undefined) runs.push(fused(test, constants));
    else
      runs.push(
        observed(
          test,
          constants,
          chained.map((node) => observer.slot!(node)),
        ),
      );
    index += Math.max(1, constants.length);
  }
  return runs;
}

/** The constants of the longest run of terms from `from` on with the same test. */
function constantsFrom<A>(
  planner: Planner<A>,
  nodes: readonly Node[],
  from: number,
  test: Test<A>,
): string[] {
  const constants: string[] = [];
  for (const node of nodes.slice(from)) {
    const next = testOf(planner, node);
    if (next?.kind !== test.kind || next.variable !== test.variable) break;
    constants.push(next.constant);
  }
  return constants;
}

function fused<A>(test: Test<A>, constants: readonly string[]): Evaluate<A> {
  const read: (activation: A) => Value | undefined = test.variable.readText ?? test.variable.read;
  if (test.kind === 'equal') {
    const set: ReadonlySet<Value | undefined> = new Set(constants);
    return (activation) => set.has(read(activation));
  }
  return (activation) => {
    const text = read(activation);
    if (typeof text !== 'string') return false;
    for (let index = 0; index < constants.length; index += 1)
      if (text.startsWith(constants[index]!)) return true;
    return false;
  };
}

/** The same, storing the outcome of each term that was reached. */
function observed<A>(test: Test<A>, constants: readonly string[], slots: readonly Slot[]): Evaluate<A> {
  const read: (activation: A) => Value | undefined = test.variable.readText ?? test.variable.read;
  const { kind } = test;
  return (activation) => {
    const text = read(activation);
    for (let index = 0; index < constants.length; index += 1) {
      const constant = constants[index]!;
      const holds =
        kind === 'equal' ? text === constant : typeof text === 'string' && text.startsWith(constant);
      slots[index]!.outcome = holds;
      if (holds) return true;
    }
    return false;
  };
}

function testOf<A>(planner: Planner<A>, node: Node): Test<A> | undefined {
  if (node.kind === 'binary' && node.operator === '==' && node.right.kind === 'literal') {
    return testOn(planner, 'equal', node.left, node.right.value);
  }
  if (node.kind !== 'call' || node.name !== 'startsWith' || node.target === undefined) return undefined;
  const [prefix] = node.args;
  return prefix?.kind === 'literal' ? testOn(planner, 'prefix', node.target, prefix.value) : undefined;
}

function testOn<A>(
  planner: Planner<A>,
  kind: Test<A>['kind'],
  subject: Node,
  constant: Value,
): Test<A> | undefined {
  const meaning = planner.typed.meanings[subject.id];
  if (meaning?.means !== 'variable' || typeof constant !== 'string') return undefined;
  const { variable } = meaning;
  const isText = variable.type.kind === 'string' || variable.readText !== undefined;
  return isText && !variable.optional ? { kind, variable, constant } : undefined;
}
