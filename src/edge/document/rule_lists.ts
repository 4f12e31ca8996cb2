import { KeyedList } from '../../caches/keyed_list.ts';
import type { IpPolicyConfig } from './schema.ts';

/** A rule of an IP policy. */
export type IpRuleConfig = IpPolicyConfig['rules'][number];

const lists = new WeakMap<IpPolicyConfig, KeyedList<IpRuleConfig>>();

/** The rules of a policy, as a list that is compared with an earlier version of it without visiting all of them. */
export function ruleListOf(policy: IpPolicyConfig): KeyedList<IpRuleConfig> {
  let list = lists.get(policy);
  if (list === undefined) lists.set(policy, (list = KeyedList.of(policy.rules)));
  return list;
}

/** The policy with these rules. They become an array when someone reads them, which a write does not. */
export function policyWithRules(list: KeyedList<IpRuleConfig>): IpPolicyConfig {
  let rules: IpRuleConfig[] | undefined;
  const policy: IpPolicyConfig = Object.freeze({
    get rules() {
      // Rules are frozen and their array is not: freezing long arrays makes every further use of them slow.
      return (rules ??= list.toArray());
    },
  });
  lists.set(policy, list);
  return policy;
}
