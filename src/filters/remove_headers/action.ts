import { hasField } from '../../http/fields.ts';
import { isFraming, isHopByHop } from '../../http/forwarding.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { keepResult, removeHeaders as removeFrom, sideOf } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Removes all values of header fields from the message of the phase. */
export const removeHeaders: ActionKind<'remove-headers'> = {
  type: 'remove-headers',
  compile: ({ type, config }, compiling) => {
    // Host can only be replaced, and policies must not remove framing fields.
    const names = config.headers
      .map((name) => name.toLowerCase())
      .filter((name) => name !== 'host' && !isFraming(name) && !isHopByHop(name));
    const step = stepsOf(type, messages, compiling.pointer);
    const next = { verdict: 'pass', step: step('removed', { headers: names.join(', ') }) } as const;
    return {
      run: (policyRun) => {
        const { activation } = policyRun;
        const { headers } = sideOf(policyRun) === 'request' ? activation.request : activation.response;
        const removed = names.filter((name) => hasField(headers, name));
        // Also names that the client did not send, because the edge adds fields later.
        removeFrom(policyRun, names);
        keepResult(policyRun, 'remove_headers', { headers_removed: removed });
        return next;
      },
    };
  },
};
