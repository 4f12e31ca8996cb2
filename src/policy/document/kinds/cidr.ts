import { isCidrProblem, parseCidr } from '../../../net/cidr.ts';
import { rewordValue } from '../repairs.ts';
import type { KindCheck } from './kind.ts';

/** An address range in strict notation. */
export const cidr: KindCheck = {
  text: ({ report, policy }, _shape, text, pointer) => {
    const answer = parseCidr(text);
    if (!isCidrProblem(answer)) return true;
    const isGuess = answer.problem === 'no_mask' || answer.problem === 'host_bits';
    report(2217, pointer, answer.message, {
      hint: isGuess ? `write ${answer.suggestion}` : `such as ${answer.suggestion}`,
      // A single address can only mean itself; a range with host bits is ambiguous.
      fix: isGuess
        ? rewordValue(policy, pointer, answer.suggestion, answer.problem === 'no_mask')
        : undefined,
    });
    return false;
  },
};
