import type { Address } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { type PrefixMap, prefixMap } from '../../net/prefix_map.ts';

export interface IpRule {
  readonly action: 'allow' | 'deny';
  readonly cidr: Cidr;
  /** What it was made of, by which it is recognised in a changed collection; by default itself. */
  readonly of?: object;
}

/**
 * Compiled rules. A client is allowed if at least one allow rule and no deny rule contains its address; order
 * and specificity do not matter, and without rules every client is blocked.
 */
export interface IpRules<Rule extends IpRule = IpRule> {
  /** The most specific allow rule that contains the address. Allocates nothing. */
  allow(address: Address): Rule | null;
  /** The most specific deny rule that contains the address. Allocates nothing. */
  deny(address: Address): Rule | null;
}

/** Rules by their action. */
interface ByAction<Rule extends IpRule> extends IpRules<Rule> {
  readonly maps: { readonly allow: PrefixMap<Rule>; readonly deny: PrefixMap<Rule> };
}

function byAction<Rule extends IpRule>({ allow, deny }: ByAction<Rule>['maps']): ByAction<Rule> {
  return { maps: { allow, deny }, allow: allow.find, deny: deny.find };
}

/** Compiles rules. */
export function compileIpRules<Rule extends IpRule>(rules: readonly Rule[]): ByAction<Rule> {
  const of = (action: IpRule['action']) => prefixMap(rules.filter((rule) => rule.action === action));
  return byAction({ allow: of('allow'), deny: of('deny') });
}

/** The rules of several lists together. */
export function joinedIpRules<Rule extends IpRule>(lists: readonly IpRules<Rule>[]): IpRules<Rule> {
  if (lists.length === 1) return lists[0]!;
  const mostSpecific = (action: IpRule['action']) => (address: Address) => {
    let best: Rule | null = null;
    for (const rules of lists) {
      const rule = rules[action](address);
      if (rule !== null && (best === null || rule.cidr.bits > best.cidr.bits)) best = rule;
    }
    return best;
  };
  return { allow: mostSpecific('allow'), deny: mostSpecific('deny') };
}

/** An immutable collection of rules, such as the rules of an IP policy. */
type Rules = Iterable<IpRule> & { readonly length: number };

/** What differs from an earlier collection. */
interface Change {
  readonly removed: readonly IpRule[];
  readonly added: readonly IpRule[];
}

/** Compiled collections. */
const compiledRules = new WeakMap<Rules, ByAction<IpRule>>();
/** Earlier versions of collections; weak, because each version would otherwise keep all earlier ones alive. */
const formerRules = new WeakMap<Rules, { readonly former: WeakRef<Rules>; readonly change: Change }>();

/** Compiles an immutable collection once for all users; parts shared with its earlier version are reused. */
export function cachedIpRules<Rule extends IpRule>(
  rules: Iterable<Rule> & { readonly length: number },
): IpRules<Rule> {
  let compiled = compiledRules.get(rules);
  if (compiled === undefined) {
    compiled = changedIpRules(rules) ?? compileIpRules<IpRule>([...rules]);
    compiledRules.set(rules, compiled);
    formerRules.delete(rules);
  }
  return compiled as IpRules as IpRules<Rule>;
}

/** Declares that a collection replaces another one, and how it differs from it. */
export function replacesRules(rules: Rules, former: Rules, change: Change): void {
  if (!compiledRules.has(rules)) formerRules.set(rules, { former: new WeakRef(former), change });
}

/** Compiles what differs from the earlier version; null if there is none, or it differs much. */
function changedIpRules(rules: Rules): ByAction<IpRule> | null {
  const { former, change } = formerRules.get(rules) ?? {};
  const before = former?.deref();
  const compiled = before && compiledRules.get(before);
  if (compiled === undefined || change === undefined) return null;
  const { removed, added } = change;
  if (removed.length + added.length > rules.length / 8 + FEW) return null;
  const of = (action: IpRule['action']) => {
    const isOf = (rule: IpRule): boolean => rule.action === action;
    return compiled.maps[action].with(removed.filter(isOf), added.filter(isOf));
  };
  return byAction({ allow: of('allow'), deny: of('deny') });
}

/** With so few changes a list is never compiled as a whole. */
const FEW = 8;
