import type { Filter } from '../facts.ts';
import type { SetVarsConfig } from './action_schema.ts';

export const messages = { set: 'variables were set' };

export const setVars = {
  action: {
    type: 'set-vars',
    phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
    ends: { when: 'never', how: [] },
    result: null,
    leavesRequest: false,
    changes: () => [],
    speaksOnly: true,
    sets: ({ vars }) =>
      vars?.every((entry) => entry !== undefined) === true
        ? vars.flatMap((entry) => Object.keys(entry ?? {}))
        : null,
    reads: [],
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{ vars: [{ lane: 'beta' }] }],
      bad: [{ config: { vars: [] }, finding: 2223 }],
    },
  },
} satisfies Filter<never, SetVarsConfig>;
