import { isCidrProblem, parseRange } from '../../../net/cidr.ts';
import { rewordValue } from '../repairs.ts';
import type { KindCheck } from './kind.ts';

/** An address, or a range in strict notation. */
export const cidr: KindCheck = {
  text: ({ report, policy }, _shape, text, pointer) => {
    const answer = parseRange(text);
    if (!isCidrProblem(answer)) return true;
    const isGuess = answer.problem === 'host_bits';
    report(2217, pointer, answer.message, {
      hint: isGuess ? `write ${answer.suggestion}` : `such as ${answer.suggestion}`,
      // Whether the address or its range is meant is not certain.
      fix: isGuess ? rewordValue(policy, pointer, answer.suggestion, false) : undefined,
    });
    return false;
  },
};
