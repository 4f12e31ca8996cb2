import { NEW_URL, resultOf } from '../result_types.ts';
import { checkReplacement } from '../find_replace/check.ts';
import { warnings } from '../find_replace/facts.ts';
import type { Filter } from '../facts.ts';
import type { UrlRewriteConfig } from './action_schema.ts';

export const messages = { rewritten: 'the URL was rewritten', unchanged: 'the URL does not change' };

export const urlRewrite = {
  action: {
    type: 'url-rewrite',
    phases: ['on_http_request'],
    ends: { when: 'never', how: [] },
    result: resultOf('url_rewrite', 'Result of the URL rewrite.', NEW_URL),
    leavesRequest: false,
    changes: () => ['url', 'headers'],
    alsoCalled: ['rewrite'],
    replacesInUrl: ({ from = null, to }) => ({ from, to }),
    reads: [],
    costNs: 900,
    warnings,
    check: checkReplacement,
    reasons: messages,
    examples: {
      good: [{ from: '/v1/', to: '/api/v1/' }],
      bad: [{ config: { from: '(', to: '/' }, finding: 2261 }],
    },
  },
} satisfies Filter<never, UrlRewriteConfig>;
