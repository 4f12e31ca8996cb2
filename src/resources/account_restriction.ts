import type { EdgeConfig } from '../edge/document/schema.ts';
import { type Cidr, contains, isCidrProblem, parseCidr } from '../net/cidr.ts';

type Rules = EdgeConfig['ip_policies'][string]['rules'];
type Restricted = Pick<EdgeConfig['edges']['https'][string]['routes'][number], 'ip_restriction'>;

type Policy = EdgeConfig['ip_policies'][string];

const NAME = 'account_restriction';

/**
 * Restricts every route, TLS and TCP edge to what some IP policies allow, besides what it restricts itself: one policy
 * that says both. An address passes both exactly when it is in the common part of an allowed range of each, and in no denied one;
 * of two ranges in CIDR notation the common part is the smaller, or nothing.
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
    return restrictedTo(own?.enabled === true ? nameFor(own.ip_policy_ids) : NAME, thing);
  };
  const edges = {
    https: mapped(config.edges.https, (edge) => ({ ...edge, routes: edge.routes.map(withBoth) })),
    tls: mapped(config.edges.tls, withBoth),
    tcp: mapped(config.edges.tcp, withBoth),
  };
  return {
    ...config,
    // After all of them have added theirs.
    ip_policies: { ...config.ip_policies, ...added },
    edges,
  };
}

interface Joined {
  readonly account: readonly Policy[];
  readonly own: readonly Policy[];
  readonly policy: Policy;
}

/** Policies that were made of others, by the first of those. */
const made = new WeakMap<Policy, readonly Joined[]>();
/** Combinations kept for one policy; an account has few. */
const KEPT = 64;

/** A policy made of others: the same object as long as they are the same. */
function joined(account: readonly Policy[], own: readonly Policy[], make: () => Rules): Policy {
  const first = account[0];
  const known = first === undefined ? [] : (made.get(first) ?? []);
  const before = known.find((each) => areSame(each.account, account) && areSame(each.own, own));
  if (before !== undefined) return before.policy;
  const policy = { rules: make() };
  if (first !== undefined) made.set(first, [{ account, own, policy }, ...known.slice(0, KEPT - 1)]);
  return policy;
}

function areSame(before: readonly Policy[], now: readonly Policy[]): boolean {
  return before.length === now.length && before.every((each, index) => each === now[index]);
}

/** What was restricted, by what it was without: it is the same object as long as it is restricted to the same policy. */
const restrictedThings = new WeakMap<Restricted, { readonly id: string; readonly thing: Restricted }>();

function restrictedTo<Thing extends Restricted>(id: string, thing: Thing): Thing {
  const known = restrictedThings.get(thing);
  if (known?.id === id) return known.thing as Thing;
  const now = Object.assign({}, thing, { ip_restriction: { enabled: true, ip_policy_ids: [id] } });
  restrictedThings.set(thing, { id, thing: now });
  return now;
}

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

function both(one: Rules, other: Rules): Rules {
  const denied = [...one, ...other].filter(({ action }) => action === 'deny');
  const others = rangesAllowed(other);
  const common = rangesAllowed(one).flatMap((range) =>
    others.flatMap((each) => smaller(range, each)?.text ?? []),
  );
  return [...denied, ...Array.from(new Set(common), (cidr) => ({ action: 'allow' as const, cidr }))];
}

function rangesAllowed(rules: Rules): Cidr[] {
  return rules.flatMap(({ action, cidr }) => {
    const range = action === 'allow' ? parseCidr(cidr) : null;
    return range === null || isCidrProblem(range) ? [] : [range];
  });
}

/** The smaller of two ranges that are nested; null when they are apart. */
function smaller(one: Cidr, other: Cidr): Cidr | null {
  const [wide, narrow] = one.bits <= other.bits ? [one, other] : [other, one];
  return contains(wide, narrow.address) ? narrow : null;
}
