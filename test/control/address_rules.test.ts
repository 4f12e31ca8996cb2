import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressRules } from '../../src/control/address_rules.ts';
import { both } from '../../src/control/resources/account_restriction.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { parseAddress } from '../../src/net/address.ts';
import { contains, isCidrProblem, parseCidr } from '../../src/net/cidr.ts';
import { sized } from '../random.ts';

/** The rules of IP policies in the management API, compared with their definition. */

type Rules = EdgeConfig['ip_policies'][string]['rules'];

function isIn(cidr: string, address: string): boolean {
  const range = parseCidr(cidr);
  if (isCidrProblem(range)) throw new Error(cidr);
  return contains(range, parseAddress(address)!);
}

function passes(rules: Rules, address: string): boolean {
  const matching = rules.filter(({ cidr }) => isIn(cidr, address));
  return matching.length > 0 && matching.every(({ action }) => action === 'allow');
}

const octet = fc.constantFrom(0, 1, 2, 128, 255);
const v4 = fc.tuple(octet, octet, octet).map(([a, b, c]) => `10.${a}.${b}.${c}`);
const v6 = fc.tuple(octet, octet).map(([a, b]) => `2001:db8:${a.toString(16)}::${b.toString(16)}`);
const address = fc.oneof(v4, v6);
const range = fc
  .tuple(address, fc.constantFrom(0, 7, 8, 9, 16, 24, 31, 32, 48, 64, 127, 128))
  .map(([text, bits]) => {
    const width = text.includes(':') ? 128 : 32;
    const given = `${text}/${Math.min(bits, width)}`;
    const read = parseCidr(given);
    return isCidrProblem(read) ? read.suggestion : given;
  });
const rules = fc.array(fc.record({ cidr: range, action: fc.constantFrom('allow', 'allow', 'deny') }), {
  maxLength: 12,
}) as fc.Arbitrary<Rules>;
const addresses = fc.array(address, { minLength: 1, maxLength: 8 });

describe('a joined policy', () => {
  it('is passed by the addresses that pass both', () => {
    fc.assert(
      fc.property(rules, rules, addresses, (one, other, clients) => {
        const joined = both(one, other);
        for (const client of clients)
          expect([client, passes(joined, client)]).toEqual([
            client,
            passes(one, client) && passes(other, client),
          ]);
      }),
      sized(1_500),
    );
  });

  it('of ranges without a common address has no range, and of n common ones has n', () => {
    const list = (third: number): Rules =>
      Array.from({ length: 4_000 }, (_, number) => ({
        cidr: `10.${number >> 8}.${number & 255}.${third}/32`,
        action: 'allow',
      }));
    expect(both(list(1), list(2))).toEqual([]);
    expect(both(list(1), list(1))).toHaveLength(4_000);
    expect(both(list(1), [{ cidr: '10.0.0.0/16', action: 'allow' }])).toHaveLength(256);
  });
});

describe('the rules of policies', () => {
  it('allow what one policy allows and none denies, also after changes', () => {
    const changes = fc.array(fc.record({ a: rules, b: rules }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(changes, addresses, (versions, clients) => {
        let policies: EdgeConfig['ip_policies'] = {};
        const areAllowing = addressRules(() => policies);
        for (const { a, b } of versions) {
          policies = { a: { rules: a }, b: { rules: b } };
          for (const client of clients)
            expect(areAllowing(['a', 'b', 'missing'], parseAddress(client)!)).toBe(
              passes([...a, ...b], client),
            );
        }
      }),
      sized(1_000),
    );
  });

  it('of no policy allow nothing', () => {
    const areAllowing = addressRules(() => ({}));
    expect(areAllowing([], parseAddress('10.0.0.1')!)).toBe(false);
  });
});
