import type { Program } from '../cel/program.ts';
import type { Subject } from './meter.ts';

/**
 * The work of one iteration: evaluates an expression on one of its inputs. Inputs are rebuilt each time,
 * because they cache what was read.
 */
export function expressionSubject<A>(program: Program<A>, inputs: readonly (() => A)[]): Subject {
  return (iteration) => program.evaluate(inputs[iteration % inputs.length]!());
}
