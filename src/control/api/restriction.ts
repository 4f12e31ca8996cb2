import { parseSocketAddress } from '../../net/address.ts';
import { ApiProblem } from '../resources/problem.ts';
import type { View } from '../store/port.ts';
import type { AddressRules, ApiRequest } from './contract.ts';

/** The service's number for addresses that may not use the API. */
export const NOT_ALLOWED = 220;

/**
 * Whether an address may use the API: if restrictions of this type are enforced, their policies must allow it. Otherwise
 * every address is allowed. The restriction is read from the store, where an operator may have lifted it.
 */
export async function isAddressAllowed(
  address: string,
  type: string,
  view: View,
  areAllowing: AddressRules,
): Promise<boolean> {
  const id = await view.claimant({ space: 'ip_restriction', value: type });
  const restriction = id === null ? null : await view.get(id);
  if (restriction === null || restriction.body['enforced'] !== true) return true;
  const client = parseSocketAddress(address);
  return client !== null && areAllowing(restriction.body['ip_policy_ids'] as readonly string[], client);
}

/** Kinds of objects that decide which addresses may use the API, by the prefixes of their ids. */
const DECIDING = /^(?:ipx|ipp|ipr)_/;

const FORCIBLE = new Set(['ip_restriction', 'ip_policy', 'ip_policy_rule']);

/** Whether a write of a kind of object may take its author the access to the API, and can be forced. */
export function isForcible(kind: string | undefined): boolean {
  return kind !== undefined && FORCIBLE.has(kind);
}

/**
 * Refuses a change after which its author could not use the API from the same address, unless it is forced. The rules
 * are those after the change.
 */
export async function refuseLockOut(
  { address, isForced }: ApiRequest,
  changed: readonly string[],
  view: View,
  areAllowing: AddressRules,
): Promise<void> {
  if (address === undefined || isForced === true || !changed.some((id) => DECIDING.test(id))) return;
  if (await isAddressAllowed(address, 'api', view, areAllowing)) return;
  const message = `After this change the address ${address} could not use the API. To apply it anyway, add ?force=true to the request or --force to the command.`;
  throw new ApiProblem(400, NOT_ALLOWED, message, { address });
}
