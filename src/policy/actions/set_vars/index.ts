import { pointerTo } from '../../../diagnostics/diagnostic.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { Failure } from '../../failure.ts';

/** Sets variables of the phase, one after the other: each sees those before it. */
export const setVars: ActionKind<'set-vars'> = {
  type: 'set-vars',
  says: { set: 'variables were set' },
  compile: ({ type, config }, compiling) => {
    const variables = config.vars.flatMap((entry, index) =>
      Object.entries(entry).map(([name, value]) => ({
        name,
        evaluate: compiling.data(value, pointerTo(`/vars/${index}`, name)),
      })),
    );
    const names = variables.map(({ name }) => name).join(', ');
    const next = {
      does: 'next',
      step: stepsOf(type, setVars.says, compiling.pointer)('set', { vars: names }),
    } as const;
    return {
      run: ({ activation }) => {
        for (const { name, evaluate } of variables) {
          const value = evaluate(activation);
          if (value instanceof Failure) return value;
          activation.setVar(name, value);
        }
        return next;
      },
    };
  },
};
