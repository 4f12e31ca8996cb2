import type { LocalResponse } from '../../engine/questions.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { messages } from './facts.ts';

const NO_RESPONSE: LocalResponse = { status: 0, headers: [], body: '' };

/** Closes the connection without a response. */
export const closeConnection: ActionKind<'close-connection'> = {
  type: 'close-connection',
  compile: ({ type }, compiling) => {
    const step = stepsOf(type, messages, compiling.pointer)('closed');
    const end = { verdict: 'stop', as: 'closed', step, response: NO_RESPONSE } as const;
    return { run: () => end };
  },
};
