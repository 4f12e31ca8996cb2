import { isPlain, POLICY_KEYS, writtenPolicies, policyText } from '../../edge/document/written_policies.ts';
import type { Body } from '../resources/contract.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';

/**
 * Turns each policy that an edge file has as a map into text, which is what the module takes. Refuses policies in files of
 * their own: they are on the machine of the client.
 */
export function policiesToText(document: Body): void {
  for (const { pointer, policy } of writtenPolicies(document)) {
    if (!isPlain(policy)) continue;
    if (Object.hasOwn(policy, 'file')) {
      const message =
        'The file of a policy cannot be read here; send its text as `value`, or use `edgeproof apply`.';
      throw new ApiProblem(400, COMMON.badValue, message, { pointer: `${pointer}/file` });
    }
    const phases = POLICY_KEYS.filter((key) => Object.hasOwn(policy, key));
    if (phases.length === 0) continue;
    if (Object.hasOwn(policy, 'value')) {
      const message = `The policy is written more than once: value and ${phases[0]}.`;
      throw new ApiProblem(400, COMMON.badValue, message, { pointer: `${pointer}/${phases[0]}` });
    }
    // The document was just read, and has no other owner.
    const own = policy as Record<string, unknown>;
    own['value'] = policyText(policy);
    for (const key of phases) delete own[key];
  }
}
