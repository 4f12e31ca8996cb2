import { checkUserAgents, findings } from './check.ts';
import type { Filter } from '../facts.ts';
import type { UserAgentFilterConfig } from './module_schema.ts';

export const reasons = {
  'user_agent_filter.allowed': { message: 'an allow pattern matches the user agent', decision: 'allow' },
  'user_agent_filter.not_denied': { message: 'no deny pattern matches the user agent', decision: 'allow' },
  'user_agent_filter.denied': { message: 'a deny pattern matches the user agent', decision: 'block' },
  'user_agent_filter.missing': {
    message: 'the request has no user agent and no allow pattern matches an empty one',
    decision: 'block',
  },
  'user_agent_filter.too_long': {
    message: 'the user agent is too long to be searched for patterns of this size',
    decision: 'block',
  },
} as const;

export const numbers = {
  refused: {
    number: 3211,
    title: 'User agent refused',
    means: 'The user agent filter of the route does not allow the user agent of the request.',
  },
};

export const userAgentFilter = {
  numbers,
  module: {
    type: 'user_agent_filter',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'may',
    reads: [{ header: 'user-agent' }],
    patternLists: ({ allow, deny }) => ({ allow, deny }),
    costNs: 650,
    // Both verdicts name a pattern of their list.
    cannotHappen: (code, { allow, deny }) => {
      if (code === 'allowed' && allow.length === 0) return 'the filter has no allow pattern';
      return code === 'denied' && deny.length === 0 ? 'the filter has no deny pattern' : null;
    },
    check: checkUserAgents,
    findings,
    reasons,
    examples: {
      good: [{ allow: ['^curl/'], deny: ['(?i)bot'] }],
      bad: [{ config: { deny: ['('] }, finding: 'edge.bad_pattern' }],
    },
  },
} satisfies Filter<UserAgentFilterConfig>;
