import { hasField } from '../../../http/fields.ts';
import { isFraming, isHopByHop } from '../../../http/forwarding.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { keepResult, removeHeaders as removeFrom, sideOf } from '../../walk.ts';

/** Removes all values of header fields from the message of the phase. */
export const removeHeaders: ActionKind<'remove-headers'> = {
  type: 'remove-headers',
  says: { removed: 'header fields were removed' },
  compile: ({ type, config }, compiling) => {
    // Host can only be replaced, and framing is not for policies to take away.
    const names = config.headers
      .map((name) => name.toLowerCase())
      .filter((name) => name !== 'host' && !isFraming(name) && !isHopByHop(name));
    const step = stepsOf(type, removeHeaders.says, compiling.pointer);
    const next = { does: 'next', step: step('removed', { headers: names.join(', ') }) } as const;
    return {
      run: (walk) => {
        const { activation } = walk;
        const { headers } = sideOf(walk) === 'request' ? activation.request : activation.response;
        const removed = names.filter((name) => hasField(headers, name));
        // Also names that the client did not send: the edge adds fields of its own on the way to the upstream.
        removeFrom(walk, names);
        keepResult(walk, 'remove_headers', { headers_removed: removed });
        return next;
      },
    };
  },
};
