import { DYN, STRING, map } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
import type { Filter } from '../facts.ts';
import type { LogConfig } from './action_schema.ts';

export const messages = { logged: 'a record was added to the event' };

export const log = {
  action: {
    type: 'log',
    phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
    ends: { when: 'never', how: [] },
    result: resultOf('log', 'The logged metadata.', { metadata: [map(STRING, DYN), 'The record.'] }),
    leavesRequest: true,
    speaksOnly: true,
    onlyLogs: true,
    reads: [],
    unseen: ['/metadata'],
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{ metadata: { lane: 'beta' } }],
      bad: [{ config: { metadata: {} }, finding: 2223 }],
    },
  },
} satisfies Filter<never, LogConfig>;
