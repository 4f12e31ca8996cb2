import type { ActionKind } from './action.ts';
import { stepsOf } from './action.ts';
import type { ActionType } from './actions/schemas.ts';

/** Types that are recognised but not simulated, and types whose logins are not run yet. */
type NotRun = Extract<ActionType, 'ai-gateway' | 'owasp-crs-request' | 'owasp-crs-response'>;

const SAYS = {
  not_run: 'this version does not run this action, so the request is stopped',
  passed: 'this version does not run this action, and is told to let requests pass it',
};

/**
 * An action that is checked but not run. It fails closed: a request that reaches it stops with 501, because
 * letting it through would open what the action guards. Only what can be `passed` may be told to let pass: an
 * inspection that is left out may be meant in a test, a login that is left out never is.
 */
export function notRun<T extends NotRun>(type: T, canPass: boolean): ActionKind<T> {
  return {
    type,
    says: SAYS,
    compile: (action, compiling) => {
      const { context } = compiling;
      const step = stepsOf(type, SAYS, action.pointer);
      if (canPass && context.passUnsimulated) {
        const next = { does: 'next', step: step('passed') } as const;
        return { run: () => next };
      }
      const response = context.refusal(501, null, `This version does not run the action ${type}`);
      const end = { does: 'end', as: 'not_run', step: step('not_run'), response } as const;
      return { run: () => end };
    },
  };
}
