import { parseSocketAddress } from '../../net/address.ts';
import { contains, isCidrProblem, parseCidr } from '../../net/cidr.ts';
import type { View } from '../store/port.ts';

/**
 * Whether an address may use the API: if restrictions of this type are enforced, a policy must allow the
 * address and none may deny it. Otherwise every address is allowed.
 */
export async function isAddressAllowed(address: string, type: string, view: View): Promise<boolean> {
  const id = await view.claimant({ space: 'ip_restriction', value: type });
  const restriction = id === null ? null : await view.get(id);
  if (restriction === null || restriction.body['enforced'] !== true) return true;
  const client = parseSocketAddress(address);
  if (client === null) return false;
  let isAllowed = false;
  for (const policy of restriction.body['ip_policy_ids'] as readonly string[]) {
    const rules = await view.list('ip_policy_rule', { parent: policy, limit: Number.MAX_SAFE_INTEGER });
    for (const { body } of rules) {
      const cidr = parseCidr(String(body['cidr']));
      if (isCidrProblem(cidr) || !contains(cidr, client)) continue;
      if (body['action'] === 'deny') return false;
      isAllowed = true;
    }
  }
  return isAllowed;
}
