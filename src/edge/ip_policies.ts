import { weakMemoize } from '../caches/weak_memoize.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Linked, LinkedRule } from '../engine/module.ts';
import { replacesList } from '../filters/ip_restriction/algorithm.ts';
import { type Cidr, isCidrProblem, parseCidr } from '../net/cidr.ts';
import type { EdgeConfig, IpPolicyConfig } from './document/schema.ts';

type Rule = IpPolicyConfig['rules'][number];

/** A policy with its parsed rules. */
export interface LinkedPolicy {
  readonly policy: IpPolicyConfig;
  readonly rules: readonly LinkedRule[];
}

/**
 * Resolves IP policies to rules with parsed ranges. `linked` has those of the previous configuration and is updated: an
 * unchanged policy keeps its rules, and a changed policy keeps its unchanged rules.
 */
export function ipPolicyTable(
  { ip_policies: policies }: EdgeConfig,
  linked: Map<string, LinkedPolicy>,
): Linked['ipPolicy'] {
  for (const id of linked.keys()) if (!Object.hasOwn(policies, id)) linked.delete(id);
  return (id) => {
    const policy = policies[id];
    if (policy === undefined) throw new Error(`IP policy '${id}' is not in the configuration`);
    const before = linked.get(id);
    if (before?.policy === policy) return before.rules;
    const rules = linkRules(id, policy, before);
    if (before !== undefined) replacesList(rules, before.rules);
    linked.set(id, { policy, rules });
    return rules;
  };
}

function linkRules(id: string, policy: IpPolicyConfig, before: LinkedPolicy | undefined): LinkedRule[] {
  const pointer = `${pointerTo('/ip_policies', id)}/rules`;
  return policy.rules.map((rule, index) =>
    before !== undefined && before.policy.rules[index] === rule
      ? before.rules[index]!
      : new RuleOfPolicy(rule, id, index, pointer),
  );
}

/** Its name and pointer are computed on demand, because few of many rules are ever asked for them. */
class RuleOfPolicy implements LinkedRule {
  readonly action: LinkedRule['action'];
  readonly cidr: Cidr;
  private readonly policy: string;
  private readonly index: number;
  private readonly parent: string;

  constructor(rule: Rule, policy: string, index: number, parent: string) {
    this.action = rule.action;
    this.cidr = cidrOf(rule);
    this.policy = policy;
    this.index = index;
    this.parent = parent;
  }

  get label(): string {
    return `${this.policy}#${this.index}`;
  }

  get pointer(): string {
    return pointerTo(this.parent, this.index);
  }
}

const cidrOf = weakMemoize((rule: Rule): Cidr => {
  const cidr = parseCidr(rule.cidr);
  if (isCidrProblem(cidr)) throw new Error(cidr.message);
  return cidr;
});
