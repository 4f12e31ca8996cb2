import { checkReplacements } from '../find_replace/check.ts';
import { REPLACEMENTS, resultOf } from '../result_types.ts';
import { numbers, serviceNumbers, warnings } from '../find_replace/facts.ts';
import type { Filter } from '../facts.ts';
import type { SseFindReplaceConfig } from './action_schema.ts';

export const messages = { replacing: 'text in messages of the stream is replaced while it streams' };

export const sseFindReplace = {
  numbers,
  serviceNumbers,
  action: {
    type: 'sse-find-replace',
    phases: ['on_event_stream_message'],
    ends: { when: 'never', how: [] },
    result: resultOf('sse_find_replace', 'What is replaced in the stream.', REPLACEMENTS),
    leavesRequest: false,
    reads: ['response'],
    costNs: 80,
    warnings,
    check: checkReplacements,
    reasons: messages,
    examples: {
      good: [{ replacements: [{ from: 'red', to: 'blue' }] }],
      bad: [{ config: { replacements: [{ field: 'id', from: 'red' }] }, finding: 2222 }],
    },
  },
} satisfies Filter<never, SseFindReplaceConfig>;
