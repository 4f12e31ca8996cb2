import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { Failure } from '../failure.ts';
import { messages } from './facts.ts';

/** Sets variables of the phase in order; each value can use the variables before it. */
export const setVars: ActionKind<'set-vars'> = {
  type: 'set-vars',
  compile: ({ type, config }, compiling) => {
    const variables = config.vars.flatMap((entry, index) =>
      Object.entries(entry).map(([name, value]) => ({
        name,
        evaluate: compiling.data(value, pointerTo(`/vars/${index}`, name)),
      })),
    );
    const names = variables.map(({ name }) => name).join(', ');
    const next = {
      verdict: 'pass',
      step: stepsOf(type, messages, compiling.pointer)('set', { vars: names }),
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
