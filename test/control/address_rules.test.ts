import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressRules } from '../../src/control/address_rules.ts';
import { tableOf } from '../../src/edge/document/config_tables.ts';
import type { EdgeConfig } from '../../src/edge/document/schema.ts';
import { ipPolicyTable } from '../../src/edge/ip_policies.ts';
import type { Linked } from '../../src/engine/module.ts';
import type { RestrictionOfAccount } from '../../src/filters/ip_restriction/facts.ts';
import { ipRestriction } from '../../src/filters/ip_restriction/module.ts';
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

/** What a restriction decides about a client. */
function restriction(policies: EdgeConfig['ip_policies'], config: RestrictionOfAccount) {
  const { onRequest } = ipRestriction.compile(config, {
    ipPolicy: ipPolicyTable(tableOf(policies), new Map()),
    refusal: (status: number) => ({ status, headers: [], body: '' }),
  } as unknown as Linked);
  return (client: string) =>
    onRequest!({} as never, { client: parseAddress(client)! } as never, null as never, null as never);
}

describe('a restriction of the account', () => {
  it('is passed by the addresses that pass it and the own one', () => {
    fc.assert(
      fc.property(rules, rules, addresses, (account, own, clients) => {
        const policies = { account: { rules: account }, own: { rules: own } };
        const joined = restriction(policies, {
          enabled: true,
          ip_policy_ids: ['own'],
          account_policy_ids: ['account'],
        });
        for (const client of clients) {
          const verdict = passes(account, client) && passes(own, client) ? 'pass' : 'stop';
          expect([client, joined(client)]).toMatchObject([client, { verdict }]);
        }
      }),
      sized(1_500),
    );
  });

  it('names the rule that decided, in the policy that has it', () => {
    const policies: EdgeConfig['ip_policies'] = {
      account: { rules: [{ cidr: '10.0.0.0/8', action: 'allow' }] },
      own: { rules: [{ cidr: '10.1.0.0/16', action: 'allow' }] },
    };
    const joined = restriction(policies, {
      enabled: true,
      ip_policy_ids: ['own'],
      account_policy_ids: ['account'],
    });
    expect(joined('10.1.2.3')).toMatchObject({ reason: { detail: { rule: 'own#0' } } });
    expect(joined('11.0.0.1')).toMatchObject({ verdict: 'stop', reason: { detail: { rules: 1 } } });
    // Without policies no address passes.
    const empty = restriction(policies, { enabled: true, ip_policy_ids: ['own'], account_policy_ids: [] });
    expect(empty('10.1.2.3')).toMatchObject({ verdict: 'stop' });
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
