import { weakMemoize, weakMemoizeLast } from '../../caches/weak_memoize.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import type { RestrictionOfAccount } from '../../filters/ip_restriction/facts.ts';

type Restricted = Pick<EdgeConfig['edges']['https'][string]['routes'][number], 'ip_restriction'>;

/**
 * Restricts every route, TLS and TCP edge to the addresses that some IP policies allow, in addition to its own
 * restriction. Only the names of the policies are added, so that parts of a configuration can be restricted alone.
 */
export function restricted(config: EdgeConfig, policies: readonly string[]): EdgeConfig {
  const alone = restrictionAlone(policies);
  const withBoth = <Thing extends Restricted>(thing: Thing): Thing => {
    const own = thing.ip_restriction;
    return withRestriction(thing, [own?.enabled === true ? joined(own, [policies]) : alone]) as Thing;
  };
  const edges = {
    https: mapped(config.edges.https, (edge) => ({ ...edge, routes: edge.routes.map(withBoth) })),
    tls: mapped(config.edges.tls, withBoth),
    tcp: mapped(config.edges.tcp, withBoth),
  };
  return { ...config, edges };
}

/** The restriction of what has no restriction of its own. */
const restrictionAlone = weakMemoize((policies: readonly string[]): RestrictionOfAccount => ({
  enabled: true,
  ip_policy_ids: [...policies],
}));

const joined = weakMemoizeLast(
  (own: RestrictionOfAccount, [policies]: readonly [readonly string[]]): RestrictionOfAccount => ({
    ...own,
    account_policy_ids: policies,
  }),
);

/** A restricted object: the same as long as its restriction is the same. */
const withRestriction = weakMemoizeLast(
  (thing: Restricted, [restriction]: readonly [RestrictionOfAccount]): Restricted =>
    Object.assign({}, thing, { ip_restriction: restriction }),
);

function mapped<Thing>(
  things: Readonly<Record<string, Thing>>,
  change: (thing: Thing) => Thing,
): Record<string, Thing> {
  return Object.fromEntries(Object.entries(things).map(([id, thing]) => [id, change(thing)]));
}
