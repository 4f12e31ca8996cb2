import { REPLACEMENTS, resultOf } from '../result_types.ts';
import { messages, numbers, serviceNumbers, warnings } from '../find_replace/facts.ts';
import type { Filter } from '../facts.ts';
import { checkReplacements } from '../find_replace/check.ts';
import type { ResponseBodyFindReplaceConfig } from './action_schema.ts';

export const responseBodyFindReplace = {
  numbers,
  serviceNumbers,
  action: {
    type: 'response-body-find-replace',
    readsText: true,
    phases: ['on_http_response'],
    ends: { when: 'never', how: [] },
    result: resultOf('response_body_find_replace', 'Replacements in the body.', REPLACEMENTS),
    leavesRequest: false,
    twin: 'request-body-find-replace',
    reads: ['response'],
    costNs: 2000,
    warnings,
    check: checkReplacements,
    reasons: messages,
    examples: {
      good: [{ replacements: [{ from: 'red', to: 'blue' }] }],
      bad: [{ config: { replacements: [] }, finding: 2223 }],
    },
  },
} satisfies Filter<never, ResponseBodyFindReplaceConfig>;
