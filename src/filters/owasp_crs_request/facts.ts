import { INSPECTION, resultOf } from '../result_types.ts';
import { type Filter, NOT_RUN_MESSAGES, RULES_FAILED, notRunNumbers } from '../facts.ts';
import type { OwaspCrsRequestConfig } from './action_schema.ts';

export const owaspCrsRequest = {
  serviceNumbers: notRunNumbers([
    [3700, 'Request blocked by rules', 'The core rule set found the request dangerous.'],
    RULES_FAILED,
  ]),
  action: {
    type: 'owasp-crs-request',
    phases: ['on_http_request'],
    ends: { when: 'may', how: ['not_run'] },
    result: resultOf('owasp_crs_request', 'Findings of the core rule set in the request.', INSPECTION),
    leavesRequest: false,
    guards: true,
    runs: 'never',
    twin: 'owasp-crs-response',
    reads: [],
    costNs: 80,
    reasons: NOT_RUN_MESSAGES,
    examples: {
      good: [{}],
      bad: [{ config: { paranoia_level: 9 }, finding: 2203 }],
    },
  },
} satisfies Filter<never, OwaspCrsRequestConfig>;
