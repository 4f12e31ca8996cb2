import { lookup as system } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type CallbackReach, UNREACHABLE, isOfThisNetwork, oursOf } from './callback_post.ts';
import { publicLookup } from './public_lookup.ts';

/** How clients with connections of their own reach hosts that API users configure. */
export interface GuardedDial {
  /** Throws for an address that may not be dialled; addresses in a configuration are not looked up. */
  readonly check: (host: string) => void;
  /** Gives only addresses that may be dialled. */
  readonly lookup: LookupFunction;
  /** The addresses of a host that may be dialled; rejects without one. */
  readonly addressesOf: (host: string) => Promise<readonly string[]>;
}

export function guardedDial(reach: CallbackReach): GuardedDial {
  const { allowPrivate, resolver = system } = reach;
  const lookup = allowPrivate ? resolver : withoutReasons(publicLookup(resolver, oursOf(reach)));
  const check = (host: string): void => {
    if (!allowPrivate && isOfThisNetwork(host, reach))
      throw new Error(`'${host}' is an address of this machine or its network`);
  };
  return {
    check,
    lookup,
    addressesOf: async (host) => {
      check(host);
      return new Promise((resolve, reject) => {
        lookup(host, { all: true }, (error, found) => {
          if (error !== null) reject(error);
          else resolve(typeof found === 'string' ? [found] : Array.from(found, ({ address }) => address));
        });
      });
    },
  };
}

/** Names without an address and names of private addresses look the same to readers of a status. */
function withoutReasons(lookup: LookupFunction): LookupFunction {
  return (host, options, callback) =>
    lookup(host, options, (error, found, family) =>
      error === null ? callback(null, found, family) : callback(new Error(UNREACHABLE), '', 0),
    );
}
