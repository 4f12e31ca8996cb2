import type { Program } from '../expression/program.ts';
import type { Subject } from './meter.ts';

/** The work of one turn: an expression on one of its inputs. Inputs are made anew, for they remember what was read. */
export function expressionSubject<A>(program: Program<A>, inputs: readonly (() => A)[]): Subject {
  return (turn) => program.evaluate(inputs[turn % inputs.length]!());
}
