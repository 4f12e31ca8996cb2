import type { EdgeConfig } from '../edge/document/schema.ts';
import { type Cidr, contains, isCidrProblem, parseCidr } from '../net/cidr.ts';

type Rules = EdgeConfig['ip_policies'][string]['rules'];
type Restricted = Pick<EdgeConfig['edges']['https'][string]['routes'][number], 'ip_restriction'>;

const NAME = 'account_restriction';

/**
 * Restricts every route, TLS and TCP edge to what some IP policies allow, besides what it restricts itself: one policy
 * that says both. An address passes both exactly when it is in the common part of an allowed range of each, and in no denied one;
 * of two ranges in CIDR notation the common part is the smaller, or nothing.
 */
export function restricted(config: EdgeConfig, policies: readonly string[]): EdgeConfig {
  const account = rulesOf(config, policies);
  const added: Record<string, EdgeConfig['ip_policies'][string]> = { [NAME]: { rules: account } };
  const named = new Map<string, string>();
  const nameFor = (ids: readonly string[]): string => {
    const key = ids.join(' ');
    let name = named.get(key);
    if (name === undefined) {
      named.set(key, (name = `${NAME}_${named.size + 1}`));
      added[name] = { rules: both(account, rulesOf(config, ids)) };
    }
    return name;
  };
  const withBoth = <Thing extends Restricted>(thing: Thing): Thing => {
    const own = thing.ip_restriction;
    const id = own?.enabled === true ? nameFor(own.ip_policy_ids) : NAME;
    return Object.assign({}, thing, { ip_restriction: { enabled: true, ip_policy_ids: [id] } });
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

function mapped<Thing>(
  things: Readonly<Record<string, Thing>>,
  change: (thing: Thing) => Thing,
): Record<string, Thing> {
  return Object.fromEntries(Object.entries(things).map(([id, thing]) => [id, change(thing)]));
}

function rulesOf(config: EdgeConfig, policies: readonly string[]): Rules {
  return policies.flatMap((id) => config.ip_policies[id]?.rules ?? []);
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
