import type { Address } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { type PrefixSet, prefixSet } from '../../net/prefix_set.ts';

export interface IpRule {
  readonly action: 'allow' | 'deny';
  readonly cidr: Cidr;
}

/**
 * Compiled rules. A client is allowed if at least one allow rule and no deny rule contains its address; order
 * and specificity do not matter, and without rules every client is blocked. The rules of several policies are
 * concatenated.
 */
export interface IpRules {
  /** Index of the most specific allow rule that contains the address, or -1. Allocates nothing. */
  allowIndex(address: Address): number;
  /** Index of the most specific deny rule that contains the address, or -1. Allocates nothing. */
  denyIndex(address: Address): number;
  /** For compiling a similar list later. */
  readonly sets: { readonly allow: PrefixSet; readonly deny: PrefixSet };
}

/**
 * Compiles rules; the indices in results refer to `rules`. `before` is a compiled similar list, most of which
 * is reused.
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

/** Compiled immutable lists. */
const compiledRules = new WeakMap<readonly IpRule[], IpRules>();
/** Previous versions of lists; weak, because each version would otherwise keep all earlier ones alive. */
const formerLists = new WeakMap<readonly IpRule[], WeakRef<readonly IpRule[]>>();

/** Compiles an immutable list once for all users; parts shared with its previous version are reused. */
export function cachedIpRules(rules: readonly IpRule[]): IpRules {
  let compiled = compiledRules.get(rules);
  if (compiled === undefined) {
    const former = formerLists.get(rules)?.deref();
    compiled = compileIpRules(rules, former === undefined ? undefined : compiledRules.get(former));
    compiledRules.set(rules, compiled);
  }
  return compiled;
}

/** Declares that a list replaces another one that shares most of its rules. */
export function replacesList(rules: readonly IpRule[], former: readonly IpRule[]): void {
  formerLists.set(rules, new WeakRef(former));
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
