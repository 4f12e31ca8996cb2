import { STRING } from '../../cel/types.ts';
import { error, resultOf } from '../result_types.ts';
import { checkAction } from './check.ts';
import type { Filter } from '../facts.ts';
import type { ForwardInternalConfig } from './action_schema.ts';

export const messages = { forwarded: 'the request is forwarded to an internal endpoint' };

export const numbers = {
  hops: {
    number: 3501,
    title: 'Too many hops',
    means: 'The request was forwarded between internal endpoints too often.',
  },
};

export const forwardInternal = {
  numbers,
  serviceNumbers: [
    {
      number: 2259,
      title: 'No endpoints',
      means:
        'The account has no endpoint to which the policy could forward. Policies here name endpoints by URL.',
    },
    {
      number: 2260,
      title: 'No endpoint with the labels',
      means: 'No endpoint has the labels to which the policy forwards. Policies here name endpoints by URL.',
    },
  ],
  action: {
    type: 'forward-internal',
    phases: ['on_tcp_connect', 'on_http_request'],
    ends: {
      when: ({ on_error: onError }) => (onError === 'continue' ? 'may' : 'always'),
      how: ['forwarded'],
    },
    result: resultOf('forward_internal', 'Result of the forwarding.', {
      url: [STRING, 'URL of the endpoint, with its expressions evaluated.'],
      error,
    }),
    leavesRequest: false,
    guards: true,
    alsoCalled: ['forward'],
    reads: [],
    costNs: 80,
    warnings: {
      'policy.unknown_endpoint': {
        message:
          'No edge of the configuration has the host, or the address, that forward-internal names: what reaches it fails.',
        cure: [
          '`forward-internal` to https://api.internal, which no edge has',
          'Add an edge with this host, or correct the URL',
        ],
      },
    },
    check: checkAction,
    reasons: messages,
    examples: {
      good: [
        { url: 'https://orders.internal' },
        { url: 'https://orders.internal', binding: 'internal' },
        { url: 'tcp://orders.internal:5432' },
      ],
      bad: [{ config: { url: 'https://orders.test' }, finding: 2204 }],
    },
  },
} satisfies Filter<never, ForwardInternalConfig>;
