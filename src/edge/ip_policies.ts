import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Linked, LinkedRule } from '../engine/module.ts';
import { type Cidr, isCidrProblem, parseCidr } from '../net/cidr.ts';
import type { EdgeConfig, IpPolicyConfig } from './document/schema.ts';

/** Resolves IP policies to rules with their ranges read. */
export function ipPolicyTable(config: EdgeConfig): Linked['ipPolicy'] {
  const read = new Map<string, readonly LinkedRule[]>();
  return (id) => {
    let rules = read.get(id);
    if (rules === undefined) read.set(id, (rules = linkRules(config, id)));
    return rules;
  };
}

/** Rules by the policy that they are of: one that is the same object as before has the same rules. */
const linked = new WeakMap<IpPolicyConfig, { readonly id: string; readonly rules: readonly LinkedRule[] }>();
const cidrs = new WeakMap<IpPolicyConfig['rules'][number], Cidr>();

function linkRules(config: EdgeConfig, id: string): readonly LinkedRule[] {
  const policy = config.ip_policies[id];
  if (policy === undefined) throw new Error(`IP policy '${id}' is not in the configuration`);
  const known = linked.get(policy);
  if (known?.id === id) return known.rules;
  const pointer = `${pointerTo('/ip_policies', id)}/rules`;
  const rules = policy.rules.map((rule, index): LinkedRule => {
    const cidr = cidrOf(rule);
    return { action: rule.action, cidr, label: `${id}#${index}`, pointer: pointerTo(pointer, index) };
  });
  linked.set(policy, { id, rules });
  return rules;
}

function cidrOf(rule: IpPolicyConfig['rules'][number]): Cidr {
  const known = cidrs.get(rule);
  if (known !== undefined) return known;
  const cidr = parseCidr(rule.cidr);
  if (isCidrProblem(cidr)) throw new Error(cidr.says);
  cidrs.set(rule, cidr);
  return cidr;
}
