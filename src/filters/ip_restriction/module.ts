import type { Connection, Pass, Stop } from '../../engine/contract.ts';
import type { Linked, LinkedRule, LinkedRules, Module } from '../../engine/module.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { cachedIpRules, joinedIpRules } from './algorithm.ts';
import { type RestrictionOfAccount, numbers, reasons } from './facts.ts';

type Code = keyof typeof reasons;

const MESSAGE = 'This address is not allowed to use this endpoint';

/** Allows or blocks by the peer address, by the rules of all policies together; the policies of the account are checked first. */
export const ipRestriction: Module<RestrictionOfAccount, Code> = {
  type: 'ip_restriction',
  reasons,
  compile: ({ ip_policy_ids: own, account_policy_ids: account }, linked) => {
    const decideOwn = decision(own, linked);
    const decide = account === undefined ? decideOwn : both(decision(account, linked), decideOwn);
    return { onConnection: decide, onRequest: (_request, connection) => decide(connection) };
  },
};

type Decision = (connection: Connection) => Pass<Code> | Stop<Code>;

/** Passes what both pass, with the reason of the second one. */
function both(one: Decision, other: Decision): Decision {
  return (connection) => {
    const verdict = one(connection);
    return verdict.verdict === 'stop' ? verdict : other(connection);
  };
}

/** The decision of several policies together. */
function decision(ids: readonly string[], linked: Pick<Linked, 'ipPolicy' | 'refusal'>): Decision {
  const policies = ids.map((id) => ({ id, rules: linked.ipPolicy(id) }));
  const compiled = joinedIpRules(policies.map(({ rules }) => cachedIpRules(rules)));
  const response = linked.refusal(403, numbers.refused.number, MESSAGE);
  // Verdicts are cached by rule, so that repeated decisions allocate nothing.
  const allowed = new Map<LinkedRule, Pass<Code>>();
  const denied = new Map<LinkedRule, Stop<Code>>();
  // Most clients are in the same range.
  let lastRule: LinkedRule | null = null;
  let last: Pass<Code>;
  const allowedBy = (rule: LinkedRule): Pass<Code> => {
    if (rule === lastRule) return last;
    let verdict = allowed.get(rule);
    if (verdict === undefined) {
      const reason = { code: 'ip_restriction.allowed', ...matched(rule, policies) } as const;
      allowed.set(rule, (verdict = { verdict: 'pass', reason }));
    }
    lastRule = rule;
    return (last = verdict);
  };
  const deniedBy = (rule: LinkedRule): Stop<Code> => {
    let verdict = denied.get(rule);
    if (verdict === undefined) {
      const reason = { code: 'ip_restriction.denied', ...matched(rule, policies) } as const;
      denied.set(rule, (verdict = { verdict: 'stop', reason, response }));
    }
    return verdict;
  };
  const count = policies.reduce((sum, { rules }) => sum + rules.length, 0);
  const notAllowed: Stop<Code> = {
    verdict: 'stop',
    reason: { code: 'ip_restriction.not_allowed', detail: { rules: count } },
    response,
  };
  return ({ client }) => {
    const deny = compiled.deny(client);
    if (deny !== null) return deniedBy(deny);
    const allow = compiled.allow(client);
    return allow === null ? notAllowed : allowedBy(allow);
  };
}

interface NamedRules {
  readonly id: string;
  readonly rules: LinkedRules;
}

/** Where a rule is. It is searched only for rules that decide, once for each configuration. */
function matched(rule: LinkedRule, policies: readonly NamedRules[]) {
  for (const { id, rules } of policies) {
    const index = rules.indexOf(rule);
    if (index < 0) continue;
    const pointer = pointerTo(`${pointerTo('/ip_policies', id)}/rules`, index);
    return { detail: { rule: `${id}#${index}`, cidr: rule.cidr.text }, pointer };
  }
  throw new Error(`the rule of ${rule.cidr.text} is in none of the policies`);
}
