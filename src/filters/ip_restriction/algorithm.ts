import type { Address } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { type PrefixSet, prefixSet } from '../../net/prefix_set.ts';

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
  /** For the rules after these. */
  readonly sets: { readonly allow: PrefixSet; readonly deny: PrefixSet };
}

/**
 * Compiles rules; positions in answers are those in `rules`. `before` are nearly the same ones compiled, of which little
 * is done again.
 */
export function compileIpRules(rules: readonly IpRule[], before?: IpRules): IpRules {
  const allow = ofAction(rules, 'allow', before?.sets.allow);
  const deny = ofAction(rules, 'deny', before?.sets.deny);
  return {
    sets: { allow: allow.set, deny: deny.set },
    allowIndex: (address) => allow.positions[allow.set.find(address)] ?? -1,
    denyIndex: (address) => deny.positions[deny.set.find(address)] ?? -1,
  };
}

/** What lists that never change were compiled to. */
const known = new WeakMap<readonly IpRule[], IpRules>();
/** The lists before them; not held, for each of those has one before it too. */
const formers = new WeakMap<readonly IpRule[], WeakRef<readonly IpRule[]>>();

/** Compiles a list that never changes once, whoever uses it; what a former list has in common with it is merged. */
export function knownIpRules(rules: readonly IpRule[]): IpRules {
  let compiled = known.get(rules);
  if (compiled === undefined) {
    const former = formers.get(rules)?.deref();
    compiled = compileIpRules(rules, former === undefined ? undefined : known.get(former));
    known.set(rules, compiled);
  }
  return compiled;
}

/** Says that a list took the place of another, of which most rules are in it. */
export function tookPlaceOf(rules: readonly IpRule[], former: readonly IpRule[]): void {
  formers.set(rules, new WeakRef(former));
}

function ofAction(
  rules: readonly IpRule[],
  action: IpRule['action'],
  before: PrefixSet | undefined,
): { readonly set: PrefixSet; readonly positions: Int32Array } {
  const ranges: Cidr[] = [];
  const positions = new Int32Array(rules.length);
  for (let position = 0; position < rules.length; position++) {
    const rule = rules[position]!;
    if (rule.action === action) positions[ranges.push(rule.cidr) - 1] = position;
  }
  return { set: prefixSet(ranges, before), positions };
}
