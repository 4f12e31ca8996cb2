import { isIP } from 'node:net';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseAddress, parseSocketAddress } from '../../src/net/address.ts';
import { sized } from '../random.ts';

const octet = fc.integer({ min: 0, max: 255 });
const dotted = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));

/** Text made of parts of addresses, mostly invalid. */
const almostAddress = fc
  .array(
    fc.constantFrom(
      '0',
      '1',
      '00',
      '255',
      '256',
      '.',
      ':',
      '::',
      'ffff',
      'FFFF',
      'abcde',
      'g',
      '%',
      ' ',
      '1.2.3.4',
      '::ffff:',
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

describe('parseAddress', () => {
  it.each([
    ['1.2.3.4', 4, '1.2.3.4'],
    ['255.255.255.255', 4, '255.255.255.255'],
    ['::', 6, '::'],
    ['2001:DB8:0:0:1:0:0:1', 6, '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7::', 6, '1:2:3:4:5:6:7:0'],
    ['64:ff9b::1.2.3.4', 6, '64:ff9b::102:304'],
    ['::1.2.3.4', 6, '::102:304'],
    ['::ffff:1.2.3.4', 4, '1.2.3.4'],
    ['::FFFF:102:304', 4, '1.2.3.4'],
    ['0:0:0:0:0:ffff:1.2.3.4', 4, '1.2.3.4'],
  ])('reads %s', (text, family, canonical) => {
    expect(parseAddress(text)).toMatchObject({ text: canonical, family });
  });

  it('keeps the number of an IPv4 address in the last word, unsigned', () => {
    expect(parseAddress('255.0.0.1')).toEqual({
      text: '255.0.0.1',
      family: 4,
      w0: 0,
      w1: 0,
      w2: 0,
      w3: 0xff000001,
    });
    expect(parseAddress('ffff::1')).toMatchObject({ w0: 0xffff0000, w1: 0, w2: 0, w3: 1 });
  });

  it.each([
    ['octal octets', '010.0.0.1'],
    ['short forms', '10.1'],
    ['one number', '167772161'],
    ['hexadecimal octets', '0x0a.0.0.1'],
    ['five octets', '1.2.3.4.5'],
    ['a large octet', '1.2.3.256'],
    ['an empty octet', '1..2.3'],
    ['a zone', 'fe80::1%eth0'],
    ['brackets', '[::1]'],
    ['white space', ' 1.2.3.4'],
    ['a trailing newline', '1.2.3.4\n'],
    ['a port', '1.2.3.4:80'],
    ['two gaps', '1::2::3'],
    ['nine groups', '1:2:3:4:5:6:7:8:9'],
    ['a gap of nothing', '1:2:3:4::5:6:7:8'],
    ['five digits', '::12345'],
    ['octets in the middle', '::1.2.3.4:1'],
    ['nothing', ''],
    ['one colon', ':'],
    ['digits of other scripts', '１.2.3.4'],
    ['a megabyte', '1'.repeat(2 ** 20)],
  ])('refuses %s', (_, text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it('accepts exactly what the platform accepts, zones aside', () => {
    fc.assert(
      fc.property(fc.oneof(almostAddress, fc.ipV6(), fc.ipV4Extended(), dotted), (text) => {
        const isAccepted = parseAddress(text) !== null;
        expect({ text, isAccepted }).toEqual({ text, isAccepted: !text.includes('%') && isIP(text) !== 0 });
      }),
      sized(20_000, 1),
    );
  });

  it('parses its own canonical text to the same address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), dotted), (text) => {
        const address = parseAddress(text)!;
        expect(parseAddress(address.text)).toEqual(address);
      }),
      sized(2_000, 2),
    );
  });
});

describe('parseSocketAddress', () => {
  it('ignores the zone of an IPv6 address, and parses everything else as parseAddress does', () => {
    expect(parseSocketAddress('fe80::1%eth0')).toEqual(parseAddress('fe80::1'));
    expect(parseSocketAddress('fe80::1%')).toBeNull();
    expect(parseSocketAddress('1.2.3.4%eth0')).toBeNull();
    fc.assert(
      fc.property(almostAddress, (text) => {
        if (!text.includes('%')) expect(parseSocketAddress(text)).toEqual(parseAddress(text));
      }),
      { seed: 3 },
    );
  });
});
