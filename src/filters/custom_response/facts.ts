import type { Filter } from '../facts.ts';
import type { CustomResponseConfig } from './action_schema.ts';

export const messages = { answered: 'the policy responds' };

export const customResponse = {
  action: {
    type: 'custom-response',
    phases: ['on_http_request', 'on_http_response'],
    ends: { when: 'always', how: ['answered'] },
    result: null,
    leavesRequest: true,
    speaksOnly: true,
    guards: ({ status_code: status }) => typeof status !== 'number' || status >= 400,
    alsoCalled: ['respond', 'response'],
    reads: [],
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{ status_code: 404, body: 'There is no such page' }],
      bad: [{ config: { status_code: 99 }, finding: 2215 }],
    },
  },
} satisfies Filter<never, CustomResponseConfig>;
