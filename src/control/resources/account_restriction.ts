import { areSame, weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { compareWords } from '../../net/address.ts';
import { type Cidr, contains, isCidrProblem, parseCidr } from '../../net/cidr.ts';

type Rules = EdgeConfig['ip_policies'][string]['rules'];
type Restricted = Pick<EdgeConfig['edges']['https'][string]['routes'][number], 'ip_restriction'>;

type Policy = EdgeConfig['ip_policies'][string];

const NAME = 'account_restriction';

/**
 * Restricts every route, TLS and TCP edge to the addresses that some IP policies allow, in addition to its own
 * restriction, by one joined policy. An address passes both exactly if it is in the intersection of an allowed
 * range of each, and in no denied range; of two nested CIDR ranges the intersection is the smaller one,
 * otherwise it is empty.
 */
export function restricted(config: EdgeConfig, policies: readonly string[]): EdgeConfig {
  const account = policiesOf(config, policies);
  const added: Record<string, Policy> = {
    [NAME]: joined(account, [], () => rulesOf(account)),
  };
  const named = new Map<string, string>();
  const nameFor = (ids: readonly string[]): string => {
    const key = ids.join(' ');
    let name = named.get(key);
    if (name === undefined) {
      named.set(key, (name = `${NAME} ${key}`));
      const own = policiesOf(config, ids);
      added[name] = joined(account, own, () => both(rulesOf(account), rulesOf(own)));
    }
    return name;
  };
  const withBoth = <Thing extends Restricted>(thing: Thing): Thing => {
    const own = thing.ip_restriction;
    return restrictedTo(thing, own?.enabled === true ? nameFor(own.ip_policy_ids) : NAME);
  };
  const edges = {
    https: mapped(config.edges.https, (edge) => ({ ...edge, routes: edge.routes.map(withBoth) })),
    tls: mapped(config.edges.tls, withBoth),
    tcp: mapped(config.edges.tcp, withBoth),
  };
  return {
    ...config,
    // After all joined policies were added.
    ip_policies: { ...config.ip_policies, ...added },
    edges,
  };
}

interface Joined {
  readonly account: readonly Policy[];
  readonly own: readonly Policy[];
  readonly policy: Policy;
}

/** Joined policies, by the first of their parts. */
const joinedWith = weakMemoize((_first: Policy): Joined[] => []);
/** Joined policies kept per policy; an account has few combinations. */
const KEPT = 64;

/** The joined policy: the same object as long as its parts are the same. */
function joined(account: readonly Policy[], own: readonly Policy[], make: () => Rules): Policy {
  const first = account[0];
  const known = first === undefined ? [] : joinedWith(first);
  const before = known.find((each) => areSame(each.account, account) && areSame(each.own, own));
  if (before !== undefined) return before.policy;
  const policy = { rules: make() };
  known.unshift({ account, own, policy });
  if (known.length > KEPT) known.pop();
  return policy;
}

/** A restricted object: the same as long as it is restricted to the same policy. */
function restrictedTo<Thing extends Restricted>(thing: Thing, id: string): Thing {
  return restrictedThing(thing, [id]) as Thing;
}

const restrictedThing = weakMemoizeLast((thing: Restricted, [id]: readonly [string]): Restricted =>
  Object.assign({}, thing, { ip_restriction: { enabled: true, ip_policy_ids: [id] } }),
);

function mapped<Thing>(
  things: Readonly<Record<string, Thing>>,
  change: (thing: Thing) => Thing,
): Record<string, Thing> {
  return Object.fromEntries(Object.entries(things).map(([id, thing]) => [id, change(thing)]));
}

function policiesOf(config: EdgeConfig, ids: readonly string[]): Policy[] {
  return ids.flatMap((id) => config.ip_policies[id] ?? []);
}

function rulesOf(policies: readonly Policy[]): Rules {
  return policies.flatMap(({ rules }) => rules);
}

/** The rules that an address passes exactly if it passes both lists. */
export function both(one: Rules, other: Rules): Rules {
  const denied = [...one, ...other].filter(({ action }) => action === 'deny');
  const common = commonRanges(rangesAllowed(one), rangesAllowed(other));
  return [...denied, ...common.map((cidr) => ({ action: 'allow' as const, cidr }))];
}

function rangesAllowed(rules: Rules): Cidr[] {
  return rules.flatMap(({ action, cidr }) => {
    const range = action === 'allow' ? parseCidr(cidr) : null;
    return range === null || isCidrProblem(range) ? [] : [range];
  });
}

/**
 * The ranges of two lists that are in a range of the other one: since two ranges are nested or disjoint, their union is
 * the intersection. One pass over the ranges in their order, with those that contain the current one on a stack.
 */
function commonRanges(one: readonly Cidr[], other: readonly Cidr[]): string[] {
  const ranges = [one, other].flatMap((list, index) => list.map((range) => ({ range, index }))).sort(inOrder);
  const open: (typeof ranges)[number][] = [];
  const openOf = [0, 0];
  const common = new Set<string>();
  for (const next of ranges) {
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (contains(last.range, next.range.address)) break;
      open.pop();
      openOf[last.index]!--;
    }
    if (openOf[1 - next.index]! > 0) common.add(next.range.text);
    open.push(next);
    openOf[next.index]!++;
  }
  return [...common];
}

/** By family and address; of the ranges at an address the widest first. */
function inOrder(
  { range: one }: { readonly range: Cidr },
  { range: other }: { readonly range: Cidr },
): number {
  return (
    one.address.family - other.address.family ||
    compareWords(one.address, other.address) ||
    one.bits - other.bits
  );
}
