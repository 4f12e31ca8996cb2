import { spawnSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { hasProgram } from '../peers.ts';
import { parseAddress } from '../../src/net/address.ts';
import { type Cidr, type CidrProblem, contains, isCidrProblem, parseCidr } from '../../src/net/cidr.ts';
import { prefixSet } from '../../src/net/prefix_set.ts';
import { runs, seeded } from '../random.ts';

const PAIRS = runs(100_000);

// Reads lines `address prefix`; prints for each whether the prefix is valid and contains the address, and both
// canonically.
const ORACLE = String.raw`
import sys, ipaddress
def plain(a): return getattr(a, 'ipv4_mapped', None) or a
out = []
for line in sys.stdin:
    a, p = line.split()
    address = plain(ipaddress.ip_address(a))
    try:
        n = ipaddress.ip_network(p)
    except ValueError:
        n = ipaddress.ip_network(p, strict=False)
        out.append('host_bits - %s -' % address)
        continue
    low = plain(n.network_address)
    if low.version != n.version and n.prefixlen >= 96:
        n = ipaddress.ip_network('%s/%d' % (low, n.prefixlen - 96))
    held = address.version == n.version and address in n
    out.append('proper %d %s %s' % (held, address, n))
print('\n'.join(out))
`;

const hasPython = hasProgram('python3', ['-c', 'import ipaddress'], 'addresses beside Python');

describe.skipIf(!hasPython)('addresses and prefixes, compared with Python’s ipaddress module', () => {
  it(`agrees on ${PAIRS} pairs`, () => {
    const pairs = makePairs(seeded(5));
    const input = pairs.map(([address, prefix]) => `${address} ${prefix}\n`).join('');
    const python = spawnSync('python3', ['-c', ORACLE], { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
    expect(python.stderr).toBe('');
    const told = python.stdout.trimEnd().split('\n');
    expect(told).toHaveLength(PAIRS);
    const seen = new Map<string, number>();
    const differences: string[] = [];
    for (const [index, [addressText, prefixText]] of pairs.entries()) {
      const ours = verdict(addressText, parseCidr(prefixText));
      if (ours !== told[index])
        differences.push(`${addressText} ${prefixText}: ours ${ours}, oracle ${told[index]}`);
      const kind = ours.split(' ').slice(0, 2).join(' ');
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
    expect(differences.slice(0, 5)).toEqual([]);
    // The pairs are useful: there are many of each answer.
    for (const kind of ['proper 1', 'proper 0', 'host_bits -'])
      expect(seen.get(kind)).toBeGreaterThan(PAIRS / 10);
  });
});

function verdict(addressText: string, cidr: Cidr | CidrProblem): string {
  const address = parseAddress(addressText)!;
  if (isCidrProblem(cidr)) return `${cidr.problem} - ${address.text} -`;
  const held = contains(cidr, address);
  // Both ways to ask must agree.
  if (prefixSet([cidr]).find(address) !== (held ? 0 : -1)) return `contains and find differ on ${cidr.text}`;
  return `proper ${held ? 1 : 0} ${address.text} ${cidr.text}`;
}

function makePairs(random: () => number): [string, string][] {
  const below = (limit: number): number => Math.floor(random() * limit);
  return Array.from({ length: PAIRS }, () => {
    const isV6 = random() < 0.6;
    const width = isV6 ? 128 : 32;
    const bytes = Array.from({ length: width / 8 }, () => [0, 0, 255, below(256)][below(4)]!);
    // Some in the space of IPv4-mapped addresses.
    if (isV6 && random() < 0.3) bytes.splice(0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255);
    const bits = below(width + 1);
    const isProper = random() < 0.8;
    const low = bytes.map((byte, at) =>
      isProper ? byte & (0xff00 >> Math.min(8, Math.max(0, bits - at * 8))) & 255 : byte,
    );
    const near = bytes.map((byte, at) => (at * 8 >= bits && random() < 0.5 ? below(256) : byte));
    if (random() < 0.4) near[below(near.length)] = below(256);
    return [spell(near, random), `${spell(low, random)}/${bits}`];
  });
}

/** One of the many spellings of an address. */
function spell(bytes: readonly number[], random: () => number): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) =>
    (bytes[at * 2]! * 256 + bytes[at * 2 + 1]!).toString(16),
  );
  const styled = groups.map((group) => (random() < 0.2 ? group.padStart(4, '0') : group));
  const withTail = random() < 0.2 ? [...styled.slice(0, 6), bytes.slice(12).join('.')] : styled;
  const text = withTail.join(':');
  const squeezed = random() < 0.6 ? text.replace(/(?:^|:)(?:0+:){1,5}/, '::') : text;
  return random() < 0.3 ? squeezed.toUpperCase() : squeezed;
}
