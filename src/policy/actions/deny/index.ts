import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';

/** Refuses the request with an empty response; a connection without HTTP is closed. */
export const deny: ActionKind<'deny'> = {
  type: 'deny',
  says: { denied: 'the request is refused', closed: 'the connection is refused' },
  compile: ({ type, config }, compiling) => {
    const isConnection = compiling.phase === 'on_tcp_connect';
    const steps = stepsOf(type, deny.says, compiling.pointer);
    const step = isConnection ? steps('closed') : steps('denied', { status: config.status_code });
    const response = { status: isConnection ? 0 : config.status_code, headers: [], body: '' };
    const end = { does: 'end', as: isConnection ? 'closed' : 'denied', step, response } as const;
    return { run: () => end };
  },
};
