import { EvalError } from '../../../expression/values.ts';
import { encodeJson } from '../../../expression/vocabulary/json.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { keepResult, note } from '../../walk.ts';

/** Adds a record to the event of the exchange. */
export const log: ActionKind<'log'> = {
  type: 'log',
  says: { logged: 'a record was added to the event' },
  compile: ({ type, config }, compiling) => {
    const metadata = compiling.data(config.metadata, '/metadata');
    const step = stepsOf(type, log.says, compiling.pointer);
    const next = {
      does: 'next',
      step: step('logged', { keys: Object.keys(config.metadata).join(', ') }),
    } as const;
    return {
      run: (walk) => {
        const value = metadata(walk.activation);
        if (value instanceof Failure) return value;
        const text = encodeJson(value);
        if (text instanceof EvalError) return compiling.failure(FAILURES.interpolation, text.says);
        note(walk, { edit: 'log', metadata: JSON.parse(text) as Readonly<Record<string, unknown>> });
        keepResult(walk, 'log', { metadata: value });
        return next;
      },
    };
  },
};
