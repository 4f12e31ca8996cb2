import type { LookupFunction } from 'node:net';
import { lazyLoad, requireFirst } from '../loading/lazy_load.ts';
import { type Address, compareWords, parseAddress } from '../net/address.ts';
import { isPrivateAddress, isPrivateHost } from '../net/private_hosts.ts';
import type { ControlClient, Posting } from './fetch.ts';

/** Allowed targets of callbacks. */
export interface CallbackReach {
  /** Whether callbacks may reach this machine and its network. */
  readonly allowPrivate: boolean;
  /** Addresses of this machine, including public ones. */
  readonly own: readonly string[];
  /** Default: the system's resolver. */
  readonly resolver?: LookupFunction;
}

/** Sends to URLs configured by API users. */
export function callbackPost(
  reach: CallbackReach,
): (url: string, posting: Omit<Posting, 'allowPrivate'>) => ReturnType<ControlClient['post']> {
  const { resolver, allowPrivate } = reach;
  const isPrivate = oursOf(reach);
  const fetcher = lazyLoad(async () => {
    requireFirst('undici');
    const { createFetcher } = await import('./fetch.ts');
    return createFetcher({ isPrivate, ...(resolver && { resolver }) });
  });
  return async (url, posting) => {
    // Addresses in the URL itself are not resolved, so the resolver cannot check them.
    if (!allowPrivate && isOfThisNetwork(new URL(url).hostname, reach)) {
      throw new Error('the URL is an address of this machine or its network');
    }
    const sending = (await fetcher.get()).post(url, { ...posting, allowPrivate });
    return allowPrivate ? sending : sending.catch(unreachable);
  };
}

/**
 * Readers of the status of a destination must not learn which names and ports there are, so all failures of
 * connections are the same.
 */
function unreachable(): never {
  throw new Error(UNREACHABLE);
}

export const UNREACHABLE = 'the destination cannot be reached';

/** Whether a host in a URL is certainly this machine or in its network. */
export function isOfThisNetwork(host: string, reach: Pick<CallbackReach, 'own'>): boolean {
  if (isPrivateHost(host)) return true;
  const address = parseAddress(host.replace(/^\[(.*)\]$/, '$1'));
  return address !== null && oursOf(reach)(address);
}

/** Whether an address is private or a public address of this machine. */
export function oursOf({ own }: Pick<CallbackReach, 'own'>): (address: Address) => boolean {
  const parsed = own.flatMap((text) => parseAddress(text.replace(/%.*$/, '')) ?? []);
  return (address) => isPrivateAddress(address) || parsed.some((each) => compareWords(each, address) === 0);
}
