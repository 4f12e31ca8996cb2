import { REPLACEMENTS, resultOf } from '../result_types.ts';
import { messages, numbers, serviceNumbers, warnings } from '../find_replace/facts.ts';
import type { Filter } from '../facts.ts';
import { checkReplacements } from '../find_replace/check.ts';
import type { RequestBodyFindReplaceConfig } from './action_schema.ts';

export const requestBodyFindReplace = {
  numbers,
  serviceNumbers,
  action: {
    type: 'request-body-find-replace',
    phases: ['on_http_request'],
    ends: { when: 'never', how: [] },
    result: resultOf('request_body_find_replace', 'Replacements in the body.', REPLACEMENTS),
    leavesRequest: false,
    twin: 'response-body-find-replace',
    reads: ['body'],
    costNs: 2000,
    warnings,
    check: checkReplacements,
    reasons: messages,
    examples: {
      good: [{ replacements: [{ from: 'red', to: 'blue' }] }],
      bad: [{ config: { replacements: [{ from: '(', to: '' }] }, finding: 2261 }],
    },
  },
} satisfies Filter<never, RequestBodyFindReplaceConfig>;
