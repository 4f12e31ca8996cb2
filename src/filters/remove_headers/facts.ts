import { STRING, list } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
import { type Filter, changedHeaders } from '../facts.ts';
import type { RemoveHeadersConfig } from './action_schema.ts';

export const messages = { removed: 'header fields were removed' };

export const removeHeaders = {
  action: {
    type: 'remove-headers',
    phases: ['on_http_request', 'on_http_response'],
    ends: { when: 'never', how: [] },
    result: resultOf('remove_headers', 'Removed header fields.', {
      headers_removed: [list(STRING), 'Names of the fields that were present and removed.'],
    }),
    leavesRequest: false,
    changes: ({ headers }) => changedHeaders(headers),
    removes: ({ headers }) => ({ request: headers, response: headers }),
    reads: [],
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{ headers: ['x-debug'] }],
      bad: [{ config: { headers: [] }, finding: 2223 }],
    },
  },
} satisfies Filter<never, RemoveHeadersConfig>;
