import { NEW_URL, resultOf } from '../result_types.ts';
import { checkReplacement } from '../find_replace/check.ts';
import { warnings } from '../find_replace/facts.ts';
import type { Filter } from '../facts.ts';
import type { RedirectConfig } from './action_schema.ts';

export const messages = {
  redirected: 'the client is redirected to another URL',
  unchanged: 'the URL does not change, so there is no redirect',
};

export const redirect = {
  action: {
    type: 'redirect',
    fieldHints: { location: 'write to', url: 'write to' },
    phases: ['on_http_request'],
    ends: { when: 'may', how: ['redirected'] },
    result: resultOf('redirect', 'Target of the redirect.', NEW_URL),
    leavesRequest: true,
    replacesInUrl: ({ from = null, to }) => ({ from, to }),
    reads: [],
    costNs: 900,
    warnings,
    check: checkReplacement,
    reasons: messages,
    examples: {
      good: [{ from: '/old/', to: '/new/', status_code: 301 }],
      bad: [{ config: { from: '/old/', to: '/new/', status_code: 200 }, finding: 2222 }],
    },
  },
} satisfies Filter<never, RedirectConfig>;
