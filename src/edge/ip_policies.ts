import { weakMemoize } from '../caches/weak_memoize.ts';
import type { KeyedList } from '../caches/keyed_list.ts';
import type { Linked, LinkedRule, LinkedRules } from '../engine/module.ts';
import { replacesRules } from '../filters/ip_restriction/algorithm.ts';
import { type Cidr, isCidrProblem, parseCidr } from '../net/cidr.ts';
import { type IpRuleConfig, ruleListOf } from './document/rule_lists.ts';
import type { ConfigTables } from './document/config_tables.ts';

type RuleList = KeyedList<IpRuleConfig>;

/**
 * Resolves IP policies to rules with parsed ranges. `linked` has the lists of the previous configuration by the names of
 * their policies and is updated: of a changed policy only the changed rules are compiled.
 */
export function ipPolicyTable(
  policies: ConfigTables['ip_policies'],
  linked: Map<string, RuleList>,
): Linked['ipPolicy'] {
  if (linked.size > policies.size) for (const id of linked.keys()) if (!policies.has(id)) linked.delete(id);
  return (id) => {
    const policy = policies.get(id);
    if (policy === undefined) throw new Error(`IP policy '${id}' is not in the configuration`);
    const list = ruleListOf(policy);
    const before = linked.get(id);
    if (before !== list) {
      if (before !== undefined) replacesRules(rulesOf(list), rulesOf(before), changedRules(list, before));
      linked.set(id, list);
    }
    return rulesOf(list);
  };
}

function changedRules(list: RuleList, before: RuleList) {
  const { removed, added } = list.changeFrom(before);
  return { removed: removed.map(linkedRule), added: added.map(linkedRule) };
}

const rulesOf = weakMemoize((list: RuleList): LinkedRules => ({
  length: list.length,
  indexOf: (rule) => list.indexOf((rule as RuleOf).of),
  [Symbol.iterator]: () => list.toArray().map(linkedRule)[Symbol.iterator](),
}));

/** A linked rule with the rule that it was made of. */
interface RuleOf extends LinkedRule {
  readonly of: IpRuleConfig;
}

/** Made anew each time: to remember it by its rule would take as long as making it. */
function linkedRule(rule: IpRuleConfig): RuleOf {
  return { action: rule.action, cidr: cidrOf(rule), of: rule };
}

function cidrOf(rule: IpRuleConfig): Cidr {
  const cidr = parseCidr(rule.cidr);
  if (isCidrProblem(cidr)) throw new Error(cidr.message);
  return cidr;
}
