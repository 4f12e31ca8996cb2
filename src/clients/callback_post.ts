import type { LookupFunction } from 'node:net';
import { lazyLoad, requireFirst } from '../loading/lazy_load.ts';
import { type Address, compareWords, parseAddress } from '../net/address.ts';
import { isPrivateAddress, isPrivateHost } from '../net/private_hosts.ts';
import type { Posting } from './fetch.ts';

/** Where callbacks may go. */
export interface CallbackReach {
  /** Whether they may reach this machine and its network. */
  readonly allowPrivate: boolean;
  /** Addresses of this machine, be they public. */
  readonly own: readonly string[];
  /** Default: that of the system. */
  readonly resolver?: LookupFunction;
}

/** Posts to URLs that a key has chosen; gives the status of the answer, whose body is not read. */
export function callbackPost(
  reach: CallbackReach,
): (url: string, posting: Omit<Posting, 'allowPrivate'>) => Promise<number> {
  const { resolver, allowPrivate } = reach;
  const isPrivate = oursOf(reach);
  const fetcher = lazyLoad(async () => {
    requireFirst('undici');
    const { createFetcher } = await import('./fetch.ts');
    return createFetcher({ isPrivate, ...(resolver && { resolver }) });
  });
  return async (url, posting) => {
    // An address in the URL itself is never looked up.
    if (!allowPrivate && isOfThisNetwork(new URL(url).hostname, reach)) {
      throw new Error('an address of this machine or its network');
    }
    return (await fetcher.get()).post(url, { ...posting, allowPrivate });
  };
}

/** Whether a host as named in a URL surely is this machine or in its network. */
export function isOfThisNetwork(host: string, reach: Pick<CallbackReach, 'own'>): boolean {
  if (isPrivateHost(host)) return true;
  const address = parseAddress(host.replace(/^\[(.*)\]$/, '$1'));
  return address !== null && oursOf(reach)(address);
}

/** Private, or a public address of this machine itself. */
function oursOf({ own }: Pick<CallbackReach, 'own'>): (address: Address) => boolean {
  const parsed = own.flatMap((text) => parseAddress(text.replace(/%.*$/, '')) ?? []);
  return (address) => isPrivateAddress(address) || parsed.some((each) => compareWords(each, address) === 0);
}
