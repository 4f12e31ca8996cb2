import { type Bind, type MacroNode, walkNodes } from '../ast.ts';
import type { Cell, Loop } from '../function_table.ts';
import { type Plan, type Planner, errorOf, exhaustedAt, running, typeOfNode } from './plan.ts';

export function planMacro<A>(planner: Planner<A>, node: MacroNode): Plan<A> {
  const target = planner.plan(node.target, true);
  const variables = newCells(planner, node);
  planner.loops += 1;
  const bodies = node.bodies.map((body) => planner.plan(body).run);
  planner.loops -= 1;
  const { meter } = planner;
  const { span } = node;
  planner.stateful = true;
  const loop: Loop<A> = {
    target: target.run,
    variables,
    bodies,
    charge: (units) => {
      meter.left -= units;
      return meter.left >= 0;
    },
    exhausted: exhaustedAt(span),
    error: (code, message) => errorOf(code, message, span),
    turnCost: sizeOfBodies(node),
  };
  return running(typeOfNode(planner, node), node.macro.plan(loop));
}

function newCells<A>(planner: Planner<A>, node: MacroNode | Bind): readonly Cell[] {
  const meaning = planner.typed.meanings[node.id];
  const locals = meaning?.means === 'declares' ? meaning.locals : [];
  return locals.map((local) => {
    const cell: Cell = { value: null };
    planner.cells.set(local, cell);
    return cell;
  });
}

/** Maximum number of nodes per iteration. Inner loops count once, because they charge their own iterations. */
function sizeOfBodies(node: MacroNode): number {
  let size = 0;
  for (const body of node.bodies) {
    walkNodes(body, () => {
      size += 1;
    });
  }
  return size;
}

/** The value is bound even if it is an error: an error that the body never reads has no effect. */
export function planBind<A>(planner: Planner<A>, node: Bind): Plan<A> {
  const value = planner.plan(node.value, true);
  const cell = newCells(planner, node)[0] ?? { value: null };
  const type = typeOfNode(planner, node);
  const body = planner.plan(node.body, type.kind === 'object');
  planner.stateful = true;
  const [runValue, runBody] = [value.run, body.run];
  return running(type, (activation) => {
    cell.value = runValue(activation);
    return runBody(activation);
  });
}
