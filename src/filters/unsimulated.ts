import { type ActionKind, stepsOf } from './action.ts';
import { NOT_RUN_MESSAGES } from './facts.ts';
import type { ActionType } from './action_schemas.ts';

/**
 * An action that is checked but not executed. It fails closed: a request that reaches it stops with 501,
 * because passing it would open what the action protects. Only inspections can be set to pass, which may be
 * intended in a test; logins never can.
 */
export function notRun<T extends ActionType>(type: T, canPass: boolean): ActionKind<T> {
  return {
    type,
    compile: (action, compiling) => {
      const { context } = compiling;
      const step = stepsOf(type, NOT_RUN_MESSAGES, action.pointer);
      if (canPass && context.passUnsimulated) {
        const next = { verdict: 'pass', step: step('passed') } as const;
        return { run: () => next };
      }
      const response = context.refusal(501, null, `This version does not execute the action ${type}`);
      const end = { verdict: 'stop', as: 'not_run', step: step('not_run'), response } as const;
      return { run: () => end };
    },
  };
}
