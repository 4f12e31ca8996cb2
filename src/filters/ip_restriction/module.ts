import type { Connection, Pass, Stop } from '../../engine/contract.ts';
import type { LinkedRule, Module } from '../../engine/module.ts';
import { cachedIpRules } from './algorithm.ts';
import type { IpRestrictionConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

const MESSAGE = 'This address is not allowed to use this endpoint';

/** Allows or blocks by the peer address, using the rules of all policies together. */
export const ipRestriction: Module<IpRestrictionConfig, Code> = {
  type: 'ip_restriction',
  reasons,
  compile: (config, linked) => {
    const policies = config.ip_policy_ids.map((id) => linked.ipPolicy(id));
    const rules = policies.length === 1 ? policies[0]! : policies.flat();
    const compiled = cachedIpRules(rules);
    const response = linked.refusal(403, 3203, MESSAGE);
    // Verdicts are cached by rule, so that repeated decisions allocate nothing.
    const allowed = new Map<number, Pass<Code>>();
    const denied = new Map<number, Stop<Code>>();
    const allowedBy = (index: number): Pass<Code> => {
      let verdict = allowed.get(index);
      if (verdict === undefined) {
        const reason = { code: 'ip_restriction.allowed', ...matched(rules[index]!) } as const;
        allowed.set(index, (verdict = { verdict: 'pass', reason }));
      }
      return verdict;
    };
    const deniedBy = (index: number): Stop<Code> => {
      let verdict = denied.get(index);
      if (verdict === undefined) {
        const reason = { code: 'ip_restriction.denied', ...matched(rules[index]!) } as const;
        denied.set(index, (verdict = { verdict: 'stop', reason, response }));
      }
      return verdict;
    };
    const notAllowed: Stop<Code> = {
      verdict: 'stop',
      reason: { code: 'ip_restriction.not_allowed', detail: { rules: rules.length } },
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
