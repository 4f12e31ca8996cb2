import { checkHeaderEdits, findings } from '../header_edits/check.ts';
import type { Filter } from '../facts.ts';
import type { ResponseHeadersConfig } from './module_schema.ts';

export const reasons = {
  'response_headers.edited': { message: 'the header edits were applied to the response', decision: 'allow' },
} as const;

export const responseHeaders = {
  module: {
    type: 'response_headers',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'never',
    reads: [],
    costNs: 60,
    adds: ({ add }) => ({ response: add }),
    removes: ({ remove }) => ({ response: remove }),
    check: checkHeaderEdits('response'),
    findings,
    reasons,
    examples: {
      good: [{ add: { 'x-frame-options': 'DENY' }, remove: ['server'] }],
      bad: [{ config: { remove: ['x edge'] }, finding: 'edge.bad_header' }],
    },
  },
} satisfies Filter<ResponseHeadersConfig>;
