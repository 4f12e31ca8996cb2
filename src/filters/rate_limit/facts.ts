import { BOOL, STRING } from '../../cel/types.ts';
import { error, resultOf } from '../result_types.ts';
import { durationMs } from '../duration.ts';
import { type Filter, whenEnforced } from '../facts.ts';
import type { RateLimitConfig } from './action_schema.ts';

export const messages = {
  passed: 'the request is within the limit',
  limited: 'the request exceeds the limit',
  unavailable: 'the shared count of requests cannot be reached',
};

export const rateLimit = {
  action: {
    type: 'rate-limit',
    phases: ['on_http_request'],
    ends: { when: whenEnforced, how: ['denied'] },
    result: resultOf('rate_limit', 'Decision of the rate limit.', {
      bucket_key: [STRING, 'Values of the bucket key, joined by commas.'],
      limited: [BOOL, 'Whether the request exceeds the limit.'],
      error,
    }),
    leavesRequest: true,
    guards: true,
    // An admitted request counts for at most eleven slots; a window has ten.
    remembersMs: ({ rate }) => durationMs(rate)! * 1.1,
    countsBy: ({ bucket_key: key }) => key,
    exercise: ({ capacity }) => [{ count: capacity, failing: false, thenMs: 1 }],
    reads: ['clock', 'state'],
    compares: ['/bucket_key'],
    sharedState: 'counts of requests',
    notInCases: (code) => (code === 'unavailable' ? 'cases have one node, which counts by itself' : null),
    unseen: ['/name', '/algorithm'],
    costNs: 200,
    reasons: messages,
    examples: {
      good: [
        {
          name: 'by address',
          algorithm: 'sliding_window',
          capacity: 100,
          rate: '1m',
          bucket_key: ['conn.client_ip'],
        },
      ],
      bad: [
        {
          config: {
            name: 'by address',
            algorithm: 'sliding_window',
            capacity: 100,
            rate: '1s',
            bucket_key: ['conn.client_ip'],
          },
          finding: 2225,
        },
      ],
    },
  },
} satisfies Filter<never, RateLimitConfig>;
