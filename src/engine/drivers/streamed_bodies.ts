import type { Buffered, BufferedBody } from '../../io/buffered_body.ts';
import type { BodyFault, Forwarded, ForwardOptions, ResponseBody } from '../../io/ports.ts';
import type { Answers, ForwardFailure } from '../questions.ts';

/** Bodies of an exchange that arrive while it runs, as answers to its questions and as parts of a forward. */

/** Answers `body` with what was read of the request. */
export function heldRequest(held: Buffered): Answers['body'] {
  if ('bytes' in held) return held;
  const { failure } = held;
  return { failure: failure === 'too_large' || failure === 'timeout' ? failure : 'cancelled' };
}

/** Answers `response_body` with what was read of the response. */
export function heldResponse(held: Buffered): Answers['response_body'] {
  if ('bytes' in held) return held;
  const { failure } = held;
  return { failure: failure === 'too_large' || failure === 'timeout' ? failure : 'reset' };
}

/** After a handler has read the response body, its beginning is in memory and the rest is still to come. */
export function reopened(forwarded: Forwarded | null, held: BufferedBody | null): Forwarded | null {
  if (forwarded === null || !('body' in forwarded) || held === null) return forwarded;
  const opened = held.open();
  if (opened === null) return forwarded;
  const body: ResponseBody = {
    lengthBytes: opened.lengthBytes,
    flow: (taker) => opened.flow(taker),
    resume: () => opened.resume(),
    cancel: () => forwarded.body.cancel(),
  };
  return { ...forwarded, body };
}

/** What the upstream client needs to know besides the request body. */
export function forwardOptions(expectsContinue: boolean, takesTrailers: boolean): ForwardOptions {
  return expectsContinue || takesTrailers ? { expectsContinue, takesTrailers } : USUAL;
}

const USUAL: ForwardOptions = { expectsContinue: false, takesTrailers: false };

/** Why a forward failed: a client that is still connected can be told that its body was invalid. */
export function forwardFailure(failure: ForwardFailure, fault: BodyFault | null): ForwardFailure {
  return failure === 'cancelled' && fault !== null && fault !== 'left' ? `body_${fault}` : failure;
}
