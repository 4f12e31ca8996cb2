import type { Address } from '../net/address.ts';
import type { Cidr } from '../net/cidr.ts';
import { type PrefixSet, prefixSet } from '../net/prefix_set.ts';

export interface IpRule {
  readonly action: 'allow' | 'deny';
  readonly cidr: Cidr;
}

/**
 * Compiled rules. A client is allowed iff at least one allow rule holds it and no deny rule does: neither order nor
 * specificity matters, and no rules at all block everyone. Several policies are one list, put end to end.
 */
export interface IpRules {
  /** Position of the most specific allow rule that holds the address, or -1. Allocates nothing. */
  allowIndex(address: Address): number;
  /** Position of the most specific deny rule that holds the address, or -1. Allocates nothing. */
  denyIndex(address: Address): number;
}

/** Whether a client may pass, and the positions of the rules that say so; -1 where none matched. */
export interface IpDecision {
  readonly allowed: boolean;
  readonly allow: number;
  readonly deny: number;
}

/** Compiles rules; positions in answers are those in `rules`. */
export function compileIpRules(rules: readonly IpRule[]): IpRules {
  const allow = ofAction(rules, 'allow');
  const deny = ofAction(rules, 'deny');
  return {
    allowIndex: (address) => allow.positions[allow.set.find(address)] ?? -1,
    denyIndex: (address) => deny.positions[deny.set.find(address)] ?? -1,
  };
}

/** Both answers at once, where the few nanoseconds of an object do not count. */
export function decideIp(rules: IpRules, address: Address): IpDecision {
  const allow = rules.allowIndex(address);
  const deny = rules.denyIndex(address);
  return { allowed: allow >= 0 && deny < 0, allow, deny };
}

function ofAction(
  rules: readonly IpRule[],
  action: IpRule['action'],
): { readonly set: PrefixSet; readonly positions: Int32Array } {
  const ranges: Cidr[] = [];
  const positions = new Int32Array(rules.length);
  for (let position = 0; position < rules.length; position++) {
    const rule = rules[position]!;
    if (rule.action === action) positions[ranges.push(rule.cidr) - 1] = position;
  }
  return { set: prefixSet(ranges), positions };
}
