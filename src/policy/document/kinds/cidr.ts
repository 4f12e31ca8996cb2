import { isCidrProblem, parseCidr } from '../../../net/cidr.ts';
import { rewordValue } from '../repairs.ts';
import type { KindCheck } from './kind.ts';

/** A range of addresses, strictly written. */
export const cidr: KindCheck = {
  text: ({ report, policy }, _shape, text, pointer) => {
    const answer = parseCidr(text);
    if (!isCidrProblem(answer)) return true;
    const isGuess = answer.problem === 'no_mask' || answer.problem === 'host_bits';
    report(2217, pointer, answer.says, {
      hint: isGuess ? `write ${answer.suggestion}` : `such as ${answer.suggestion}`,
      // A lone address can mean nothing but itself; a range with host bits could be either.
      fix: isGuess
        ? rewordValue(policy, pointer, answer.suggestion, answer.problem === 'no_mask')
        : undefined,
    });
    return false;
  },
};
