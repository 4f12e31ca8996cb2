import type { EdgeConfig } from '../edge/document/schema.ts';
import { tableOf } from '../edge/document/config_tables.ts';
import { ipPolicyTable } from '../edge/ip_policies.ts';
import { cachedIpRules, joinedIpRules } from '../filters/ip_restriction/algorithm.ts';
import type { AddressRules } from './api/contract.ts';

/**
 * Decides about addresses by the rules of IP policies, as the edge does. The rules of a policy are compiled once, and
 * of a policy that has changed only those that differ.
 */
export function addressRules(policiesNow: () => EdgeConfig['ip_policies']): AddressRules {
  const linked: Parameters<typeof ipPolicyTable>[1] = new Map();
  let policies = policiesNow();
  let rulesOf = ipPolicyTable(tableOf(policies), linked);
  return (ids, client) => {
    if (policies !== policiesNow()) {
      policies = policiesNow();
      rulesOf = ipPolicyTable(tableOf(policies), linked);
    }
    const known = ids.filter((id) => Object.hasOwn(policies, id));
    const rules = joinedIpRules(known.map((id) => cachedIpRules(rulesOf(id))));
    return rules.deny(client) === null && rules.allow(client) !== null;
  };
}
