import { type ActionKind, stepsOf } from '../action.ts';
import { messages } from './facts.ts';

/** Rejects the request with an empty response; a connection without HTTP is closed. */
export const deny: ActionKind<'deny'> = {
  type: 'deny',
  compile: ({ type, config }, compiling) => {
    const isConnection = compiling.phase === 'on_tcp_connect';
    const steps = stepsOf(type, messages, compiling.pointer);
    const step = isConnection ? steps('closed') : steps('denied', { status: config.status_code });
    const response = { status: isConnection ? 0 : config.status_code, headers: [], body: '' };
    const end = { verdict: 'stop', as: isConnection ? 'closed' : 'denied', step, response } as const;
    return { run: () => end };
  },
};
