import { INSPECTION, resultOf } from '../result_types.ts';
import { type Filter, NOT_RUN_MESSAGES, RULES_FAILED, notRunNumbers } from '../facts.ts';
import type { OwaspCrsResponseConfig } from './action_schema.ts';

export const owaspCrsResponse = {
  serviceNumbers: notRunNumbers([
    RULES_FAILED,
    [3702, 'Response blocked by rules', 'The core rule set found the response dangerous.'],
  ]),
  action: {
    type: 'owasp-crs-response',
    phases: ['on_http_response'],
    ends: { when: 'may', how: ['not_run'] },
    result: resultOf('owasp_crs_response', 'Findings of the core rule set in the response.', INSPECTION),
    leavesRequest: false,
    runs: 'never',
    twin: 'owasp-crs-request',
    reads: [],
    costNs: 80,
    reasons: NOT_RUN_MESSAGES,
    examples: {
      good: [{}],
      bad: [{ config: { paranoia_level: 9 }, finding: 2203 }],
    },
  },
} satisfies Filter<never, OwaspCrsResponseConfig>;
