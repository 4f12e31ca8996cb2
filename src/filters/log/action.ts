import { EvalError } from '../../cel/values.ts';
import { encodeJson } from '../../policy/env/json.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { keepResult, note } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Adds a record to the event of the exchange. */
export const log: ActionKind<'log'> = {
  type: 'log',
  compile: ({ type, config }, compiling) => {
    const metadata = compiling.data(config.metadata, '/metadata');
    const step = stepsOf(type, messages, compiling.pointer);
    const next = {
      verdict: 'pass',
      step: step('logged', { keys: Object.keys(config.metadata).join(', ') }),
    } as const;
    return {
      run: (policyRun) => {
        const value = metadata(policyRun.activation);
        if (value instanceof Failure) return value;
        const text = encodeJson(value);
        if (text instanceof EvalError) return compiling.failure(FAILURES.interpolation, text.message);
        note(policyRun, { edit: 'log', metadata: JSON.parse(text) as Readonly<Record<string, unknown>> });
        keepResult(policyRun, 'log', { metadata: value });
        return next;
      },
    };
  },
};
