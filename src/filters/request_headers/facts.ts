import { checkHeaderEdits, findings } from '../header_edits/check.ts';
import type { Filter } from '../facts.ts';
import type { RequestHeadersConfig } from './module_schema.ts';

export const reasons = {
  'request_headers.edited': { message: 'the header edits were applied to the request', decision: 'allow' },
} as const;

export const requestHeaders = {
  module: {
    type: 'request_headers',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'never',
    reads: [],
    costNs: 60,
    adds: ({ add }) => ({ request: add }),
    removes: ({ remove }) => ({ request: remove }),
    check: checkHeaderEdits('request'),
    findings,
    reasons,
    examples: {
      good: [{ add: { 'x-edge': 'shop' }, remove: ['x-debug'] }],
      bad: [{ config: { add: { 'x edge': 'shop' } }, finding: 'edge.bad_header' }],
    },
  },
} satisfies Filter<RequestHeadersConfig>;
