import type { Filter } from '../facts.ts';
import type { CloseConnectionConfig } from './action_schema.ts';

export const messages = { closed: 'the connection is closed without a response' };

export const closeConnection = {
  action: {
    type: 'close-connection',
    phases: ['on_tcp_connect', 'on_http_request'],
    ends: { when: 'always', how: ['closed'] },
    result: null,
    leavesRequest: true,
    guards: true,
    reads: [],
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{}],
      bad: [{ config: { status_code: 403 }, finding: 2203 }],
    },
  },
} satisfies Filter<never, CloseConnectionConfig>;
