import type { Connection, Pass, Stop } from '../../engine/contract.ts';
import type { LinkedRule, Module } from '../../engine/module.ts';
import { compileIpRules } from '../../mechanisms/ip_rules.ts';
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
    const rules = config.ip_policy_ids.flatMap((id) => linked.ipPolicy(id));
    const compiled = compileIpRules(rules);
    const response = linked.refusal(403, 3203, MESSAGE);
    // One verdict a rule, made here, so that deciding allocates nothing.
    const allowed = rules.map((rule): Pass<Code> => ({
      verdict: 'pass',
      because: { code: 'ip_restriction.allowed', ...matched(rule) },
    }));
    const denied = rules.map((rule): Stop<Code> => ({
      verdict: 'stop',
      because: { code: 'ip_restriction.denied', ...matched(rule) },
      response,
    }));
    const notAllowed: Stop<Code> = {
      verdict: 'stop',
      because: { code: 'ip_restriction.not_allowed', detail: { rules: rules.length } },
      response,
    };
    const decide = ({ client }: Connection): Pass<Code> | Stop<Code> => {
      const deny = compiled.denyIndex(client);
      if (deny >= 0) return denied[deny]!;
      const allow = compiled.allowIndex(client);
      return allow >= 0 ? allowed[allow]! : notAllowed;
    };
    return { onConnection: decide, onRequest: (_request, connection) => decide(connection) };
  },
};

function matched(rule: LinkedRule) {
  return { detail: { rule: rule.label, cidr: rule.cidr.text }, pointer: rule.pointer };
}
