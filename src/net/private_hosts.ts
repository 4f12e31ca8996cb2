import { type Address, parseAddress } from './address.ts';
import { type Cidr, isCidrProblem, parseCidr } from './cidr.ts';
import { prefixSet } from './prefix_set.ts';

/**
 * Non-public ranges from the registries of RFC 6890: this machine, private and shared networks, link-local
 * (cloud metadata), benchmarking, multicast, reserved, and forms that embed an IPv4 address.
 */
const RANGES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

const PRIVATE = prefixSet(
  RANGES.map(parseCidr).filter((range): range is Cidr => {
    if (isCidrProblem(range)) throw new Error(range.message);
    return true;
  }),
);

/** Whether requests to this address would reach this machine or its network. */
export function isPrivateAddress(address: Address): boolean {
  return PRIVATE.find(address) >= 0;
}

/**
 * Whether a host in a URL (lower case, IPv6 in brackets) is certainly a private address. This includes names
 * of this machine, and numbers that resolvers may read as an address (`127.1`, `0x7f000001`). Other names
 * must be checked after they are resolved.
 */
export function isPrivateHost(host: string): boolean {
  // A final dot is the DNS root, which many resolvers ignore.
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const address = parseAddress(bare);
  if (address !== null) return isPrivateAddress(address);
  if (host.startsWith('[')) return true;
  return /^(?:.*\.)?localhost$/.test(bare) || /(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(bare);
}

const LOOPBACK = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether a host in a URL (lower case, IPv6 in brackets) means this machine itself. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Whether no other machine can change what is read from a URL: https, or plain http on this machine. */
export function isTamperProof({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
