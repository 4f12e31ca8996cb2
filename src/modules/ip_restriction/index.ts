import type { Connection, Pass, Stop } from '../../engine/contract.ts';
import type { LinkedRule, Module } from '../../engine/module.ts';
import { knownIpRules } from '../../mechanisms/ip_rules.ts';
import type { IpRestrictionConfig } from './schema.ts';

const reasons = {
  'ip_restriction.allowed': {
    says: 'an allow rule holds the client address, and no deny rule does',
    decision: 'allow',
  },
  'ip_restriction.denied': { says: 'a deny rule holds the client address', decision: 'block' },
  'ip_restriction.not_allowed': { says: 'no allow rule holds the client address', decision: 'block' },
} as const;

type Code = keyof typeof reasons;

const MESSAGE = 'This address is not allowed to use this endpoint';

/** Allows or blocks by the layer-4 peer: the union of the policies, at least one allow and no deny. */
export const ipRestriction: Module<IpRestrictionConfig, Code> = {
  type: 'ip_restriction',
  reasons,
  compile: (config, linked) => {
    const policies = config.ip_policy_ids.map((id) => linked.ipPolicy(id));
    const rules = policies.length === 1 ? policies[0]! : policies.flat();
    const compiled = knownIpRules(rules);
    const response = linked.refusal(403, 3203, MESSAGE);
    // One verdict a rule, made when it decides first: afterwards deciding allocates nothing.
    const allowed = new Map<number, Pass<Code>>();
    const denied = new Map<number, Stop<Code>>();
    const allowedBy = (index: number): Pass<Code> => {
      let verdict = allowed.get(index);
      if (verdict === undefined) {
        const because = { code: 'ip_restriction.allowed', ...matched(rules[index]!) } as const;
        allowed.set(index, (verdict = { verdict: 'pass', because }));
      }
      return verdict;
    };
    const deniedBy = (index: number): Stop<Code> => {
      let verdict = denied.get(index);
      if (verdict === undefined) {
        const because = { code: 'ip_restriction.denied', ...matched(rules[index]!) } as const;
        denied.set(index, (verdict = { verdict: 'stop', because, response }));
      }
      return verdict;
    };
    const notAllowed: Stop<Code> = {
      verdict: 'stop',
      because: { code: 'ip_restriction.not_allowed', detail: { rules: rules.length } },
      response,
    };
    const decide = ({ client }: Connection): Pass<Code> | Stop<Code> => {
      const deny = compiled.denyIndex(client);
      if (deny >= 0) return deniedBy(deny);
      const allow = compiled.allowIndex(client);
      return allow >= 0 ? allowedBy(allow) : notAllowed;
    };
    return { onConnection: decide, onRequest: (_request, connection) => decide(connection) };
  },
};

function matched(rule: LinkedRule) {
  return { detail: { rule: rule.label, cidr: rule.cidr.text }, pointer: rule.pointer };
}
