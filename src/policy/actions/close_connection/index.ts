import type { LocalResponse } from '../../../engine/contract.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';

const NO_RESPONSE: LocalResponse = { status: 0, headers: [], body: '' };

/** Closes the connection without a response. */
export const closeConnection: ActionKind<'close-connection'> = {
  type: 'close-connection',
  says: { closed: 'the connection is closed without a response' },
  compile: ({ type }, compiling) => {
    const step = stepsOf(type, closeConnection.says, compiling.pointer)('closed');
    const end = { does: 'end', as: 'closed', step, response: NO_RESPONSE } as const;
    return { run: () => end };
  },
};
