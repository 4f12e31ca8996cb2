import { describe, expect, it } from 'vitest';

import { type CidrProblem, isCidrProblem, parseCidr } from '../../src/net/cidr.ts';

describe('parseCidr', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8', 8],
    ['0.0.0.0/0', '0.0.0.0/0', 0],
    ['192.0.2.7/32', '192.0.2.7/32', 32],
    ['::/0', '::/0', 0],
    ['2001:DB8::/32', '2001:db8::/32', 32],
    ['2001:db8::8000:0/97', '2001:db8::8000:0/97', 97],
    ['::1/128', '::1/128', 128],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8', 8],
    ['::ffff:0:0/96', '0.0.0.0/0', 0],
    ['::ffff:192.0.2.7/128', '192.0.2.7/32', 32],
  ])('reads %s', (text, canonical, bits) => {
    expect(parseCidr(text)).toMatchObject({ text: canonical, bits });
  });

  it.each([
    ['10.0.0.1', 'no_mask', '10.0.0.1/32'],
    ['2001:db8::1', 'no_mask', '2001:db8::1/128'],
    ['10.0.0.1/8', 'host_bits', '10.0.0.0/8'],
    ['2001:db8::1/32', 'host_bits', '2001:db8::/32'],
    ['::ffff:10.0.0.1/104', 'host_bits', '10.0.0.0/8'],
    ['::ffff:0:0/90', 'host_bits', '::ffc0:0:0/90'],
    ['10.0.0.0/33', 'bad_mask', '10.0.0.0/32'],
    ['::/129', 'bad_mask', '::/128'],
    ['10.0.0.0/', 'bad_mask', '10.0.0.0/32'],
    ['10.0.0.0/08', 'bad_mask', '10.0.0.0/8'],
    ['10.0.0.0/-1', 'bad_mask', '10.0.0.0/32'],
    ['10.0.0.0/8/8', 'bad_mask', '10.0.0.0/32'],
    ['10.0.0.0/255.0.0.0', 'bad_mask', '10.0.0.0/8'],
    ['10.0.0.0/255.0.255.0', 'bad_mask', '10.0.0.0/32'],
    ['10/8', 'not_an_address', '10.0.0.0/8'],
    ['10.1/16', 'not_an_address', '10.1.0.0/16'],
    ['010.0.0.0/8', 'not_an_address', '10.0.0.0/8'],
    [' 10.0.0.0/8', 'not_an_address', '10.0.0.0/8'],
    ['[::1]/128', 'not_an_address', '::1/128'],
    ['fe80::1%eth0/128', 'not_an_address', 'fe80::1/128'],
    ['everyone', 'not_an_address', '192.0.2.0/24'],
    ['', 'not_an_address', '192.0.2.0/24'],
  ])('refuses %s as %s and suggests %s', (text, problem, suggestion) => {
    expect(parseCidr(text)).toMatchObject({ problem, suggestion });
  });

  it.each(['10.0.0.1', '10.0.0.1/8', '10/8', '1.2.3.4/99', '::ffff:1.2.3.4/97', 'x', '300.1.1.1/8'])(
    'suggests for %s a valid range',
    (text) => {
      const answer = parseCidr(text) as CidrProblem;
      expect(isCidrProblem(answer)).toBe(true);
      expect(isCidrProblem(parseCidr(answer.suggestion))).toBe(false);
    },
  );
});
