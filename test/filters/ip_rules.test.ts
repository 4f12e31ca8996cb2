import { describe, expect, it } from 'vitest';

import {
  type IpRule,
  type IpRules,
  compileIpRules,
  cachedIpRules,
  replacesRules,
} from '../../src/filters/ip_restriction/algorithm.ts';
import { type Address, parseAddress } from '../../src/net/address.ts';
import { isCidrProblem, parseCidr } from '../../src/net/cidr.ts';

function rule(text: string): IpRule {
  const [action, range] = text.split(' ') as ['allow' | 'deny', string];
  const cidr = parseCidr(range);
  if (isCidrProblem(cidr)) throw new Error(cidr.message);
  return { action, cidr };
}

function decideIp(
  rules: readonly IpRule[],
  compiled: IpRules,
  address: Address,
): { allowed: boolean; allow: number; deny: number } {
  const indexOf = (found: IpRule | null): number => (found === null ? -1 : rules.indexOf(found));
  const allow = indexOf(compiled.allow(address));
  const deny = indexOf(compiled.deny(address));
  return { allowed: allow >= 0 && deny < 0, allow, deny };
}

function decide(texts: readonly string[], client: string): unknown {
  const rules = texts.map(rule);
  return decideIp(rules, compileIpRules(rules), parseAddress(client)!);
}

describe('lists that replace others', () => {
  it('are compiled once, and decide like new ones', () => {
    const texts = Array.from(
      { length: 40 },
      (_, index) => `${index % 3 === 0 ? 'deny' : 'allow'} 10.${index}.0.0/16`,
    );
    const former = texts.map(rule);
    expect(cachedIpRules(former)).toBe(cachedIpRules(former));
    const added = [rule('allow 10.7.0.0/24')];
    const next = [...former.slice(0, 7), ...former.slice(8), ...added];
    replacesRules(next, former, { removed: former.slice(7, 8), added });
    for (const client of ['10.7.0.1', '10.7.1.1', '10.6.0.1', '10.39.0.1', '192.0.2.1']) {
      const address = parseAddress(client)!;
      expect(decideIp(next, cachedIpRules(next), address)).toEqual(
        decideIp(next, compileIpRules(next), address),
      );
    }
  });
});

describe('ip rules', () => {
  it.each([
    ['no rules block everyone', [], '10.0.0.1', { allowed: false, allow: -1, deny: -1 }],
    ['no match blocks', ['allow 10.0.0.0/8'], '11.0.0.1', { allowed: false, allow: -1, deny: -1 }],
    [
      'only denials block whom they do not name too',
      ['deny 10.0.0.0/8'],
      '11.0.0.1',
      { allowed: false, allow: -1, deny: -1 },
    ],
    ['an allow rule lets in', ['allow 10.0.0.0/8'], '10.0.0.1', { allowed: true, allow: 0, deny: -1 }],
    [
      'a denial wins over a later allow',
      ['deny 10.0.0.0/8', 'allow 10.0.0.0/8'],
      '10.0.0.1',
      { allowed: false, allow: 1, deny: 0 },
    ],
    [
      'a denial wins over a narrower allow',
      ['allow 10.0.0.1/32', 'deny 0.0.0.0/0'],
      '10.0.0.1',
      { allowed: false, allow: 0, deny: 1 },
    ],
    [
      'the most specific rule is named',
      ['allow 0.0.0.0/0', 'deny 9.0.0.0/8', 'allow 10.0.0.0/8'],
      '10.0.0.1',
      { allowed: true, allow: 2, deny: -1 },
    ],
    [
      'a mapped address is its IPv4 address',
      ['allow 10.0.0.0/8'],
      '::ffff:10.0.0.1',
      { allowed: true, allow: 0, deny: -1 },
    ],
    [
      'a mapped range is its IPv4 range',
      ['allow ::ffff:10.0.0.0/104'],
      '10.0.0.1',
      { allowed: true, allow: 0, deny: -1 },
    ],
    ['IPv6 rules hold no IPv4 client', ['allow ::/0'], '10.0.0.1', { allowed: false, allow: -1, deny: -1 }],
    [
      'IPv6 clients',
      ['allow 2001:db8::/32', 'deny 2001:db8:1::/48'],
      '2001:db8:1::7',
      { allowed: false, allow: 0, deny: 1 },
    ],
  ])('%s', (_, rules, client, expected) => {
    expect(decide(rules, client)).toEqual(expected);
  });
});
