import { STRING } from '../../cel/types.ts';
import { type Filter, whenEnforced } from '../facts.ts';
import { error, resultOf } from '../result_types.ts';
import { checkAction, checkModule, findings } from './check.ts';
import type { IpRestrictionConfig } from './module_schema.ts';
import type { RestrictIpsConfig } from './action_schema.ts';

/** A restriction with the IP policies that an account imposes on all endpoints; no file has them. */
export interface RestrictionOfAccount extends IpRestrictionConfig {
  /** An address must pass these policies, too. */
  readonly account_policy_ids?: readonly string[];
}

export const reasons = {
  'ip_restriction.allowed': {
    message: 'an allow rule contains the client address, and no deny rule does',
    decision: 'allow',
  },
  'ip_restriction.denied': { message: 'a deny rule contains the client address', decision: 'block' },
  'ip_restriction.not_allowed': { message: 'no allow rule contains the client address', decision: 'block' },
} as const;

export const messages = {
  allowed: 'an allowed range contains the client address, and no denied range does',
  denied: 'a denied range contains the client address',
  not_allowed: 'no allowed range contains the client address',
};

export const numbers = {
  refused: {
    number: 3203,
    title: 'Address refused',
    means: 'No range allows the client address, or one denies it.',
  },
};

export const ipRestriction = {
  numbers,
  serviceNumbers: [
    {
      number: 3205,
      title: 'Address refused for the account',
      means: 'The IP restriction of the account, not of the policy, refuses the address.',
    },
  ],
  module: {
    type: 'ip_restriction',
    place: 'route',
    edgeKinds: ['https', 'tls', 'tcp'],
    ends: 'may',
    reads: ['client_address'],
    addressLists: ({ ip_policy_ids: policies }) => ({ allow: [], deny: [], policies }),
    costNs: 30,
    references: [
      { kind: 'ip_policy', at: '/ip_policy_ids/*', shownAs: 'ip_policies', missing: 1402, wrong: 229 },
    ],
    apiCodes: { bad: 7025 },
    check: checkModule,
    findings,
    reasons,
    examples: {
      good: [{ ip_policy_ids: ['office'] }],
      bad: [{ config: { ip_policy_ids: ['no_such_policy'] }, finding: 'edge.unknown_ip_policy' }],
    },
  },
  action: {
    type: 'restrict-ips',
    phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
    ends: { when: whenEnforced, how: ['denied'] },
    result: resultOf('restrict_ips', 'Decision about the address.', {
      action: [STRING, '`allow` or `deny`.'],
      matched_cidr: [STRING, 'The deciding range; empty if there was none.'],
      error,
    }),
    leavesRequest: true,
    guards: true,
    alsoCalled: ['allow', 'ip-restriction'],
    references: [{ kind: 'ip_policy', at: '/ip_policies/*' }],
    cannotHappen: (code, { allow, deny, ip_policies: policies }) => {
      if (code === 'denied' && deny.length + policies.length === 0) return 'no range is denied';
      return code === 'allowed' && allow.length + policies.length === 0 ? 'no range is allowed' : null;
    },
    reads: ['client_address'],
    addressLists: ({ allow, deny, ip_policies: policies }) => ({ allow, deny, policies }),
    costNs: 80,
    warnings: {
      'policy.blocks_everybody': {
        message: 'No address can pass.',
        cure: ['`restrict-ips` with `deny: [0.0.0.0/0, ::/0]`', 'Allow the addresses that are meant'],
      },
    },
    check: checkAction,
    reasons: messages,
    examples: {
      good: [{ allow: ['203.0.113.0/24'] }],
      bad: [{ config: { allow: ['203.0.113.0/33'] }, finding: 2217 }],
    },
  },
} satisfies Filter<IpRestrictionConfig, RestrictIpsConfig>;
