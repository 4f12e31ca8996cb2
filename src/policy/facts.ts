import type { Filter } from '../filters/facts.ts';

/** Policies of fewer characters are checked and compiled in a few milliseconds. */
export const LARGE_POLICY = 16_384;

/** Why a policy let an exchange continue or not; the inner steps name the rules and actions. */
export const POLICY_REASONS = {
  'traffic_policy.no_rule': { message: 'no rule of the policy applies', decision: 'allow' },
  'traffic_policy.applied': { message: 'rules of the policy were applied', decision: 'allow' },
  'traffic_policy.disabled': { message: 'the policy is disabled', decision: 'allow' },
  'traffic_policy.answered': { message: 'an action of the policy responded', decision: 'block' },
  'traffic_policy.denied': { message: 'an action of the policy denied the request', decision: 'block' },
  'traffic_policy.redirected': {
    message: 'an action of the policy redirected the request',
    decision: 'block',
  },
  'traffic_policy.closed': { message: 'an action of the policy closed the connection', decision: 'block' },
  'traffic_policy.forwarded': {
    message: 'an action of the policy forwarded the request to an internal endpoint',
    decision: 'allow',
  },
  'traffic_policy.not_run': {
    message: 'the request reached an action that this version does not execute',
    decision: 'block',
  },
  'traffic_policy.failed': {
    message: 'the policy failed, so the request is stopped',
    decision: 'block',
  },
} as const;

export const trafficPolicy = {
  module: {
    type: 'traffic_policy',
    place: 'route',
    edgeKinds: ['https', 'tls', 'tcp'],
    ends: 'may',
    reads: [],
    runsActions: true,
    costNs: 60,
    reasons: POLICY_REASONS,
    examples: {
      good: [{ value: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}' }],
      bad: [{ config: { value: '{"on_http_request":[{"actions":[{"type":"refuse"}]}]}' }, finding: 2201 }],
    },
  },
} satisfies Filter;
