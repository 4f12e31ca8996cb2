import type { LookupFunction } from 'node:net';
import { type Address, parseAddress } from '../net/address.ts';

/** Code of the error for a name that has no public address. */
export const PRIVATE_ADDRESS = 'ERR_PRIVATE_ADDRESS';

/**
 * A lookup that returns public addresses only. The caller dials the returned address, so a name that resolves
 * to a private one the next time (DNS rebinding) gains nothing.
 */
export function publicLookup(
  system: LookupFunction,
  isPrivate: (address: Address) => boolean,
): LookupFunction {
  return (host, options, callback) => {
    system(host, options, (error, found, family) => {
      if (error !== null) return callback(error, found, family);
      const addresses = typeof found === 'string' ? [{ address: found, family: family ?? 0 }] : found;
      const open = addresses.filter(({ address }) => {
        const parsed = parseAddress(address);
        return parsed !== null && !isPrivate(parsed);
      });
      const [first] = open;
      if (first === undefined) {
        const refused = new Error(`'${host}' is an address of this machine or its network`);
        return callback(Object.assign(refused, { code: PRIVATE_ADDRESS }), '', 0);
      }
      return typeof found === 'string' ? callback(null, first.address, first.family) : callback(null, open);
    });
  };
}
