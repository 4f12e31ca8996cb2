import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileFacts } from '../../../src/policy/env/facts_table.ts';
import type { GeoipDatabase } from '../../../src/policy/env/facts.ts';
import { isMmdbProblem, openMmdb } from '../../../src/policy/env/mmdb.ts';
import { type Address, addressOf, parseAddress } from '../../../src/net/address.ts';
import { type Cidr, contains, isCidrProblem, parseCidr } from '../../../src/net/cidr.ts';
import { runs, seeded, sized } from '../../random.ts';
import { activation, valuesOf } from './exchange.ts';
import { type Data, encode, writeMmdb } from './mmdb_writer.ts';

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (isCidrProblem(parsed)) throw new Error(parsed.message);
  return parsed;
};
const ip = (text: string) => parseAddress(text)!;

function open(bytes: Uint8Array): GeoipDatabase {
  const book = openMmdb(bytes);
  if (isMmdbProblem(book)) throw new Error(book.problem);
  return book;
}

const network = (number: number): Data => ({ autonomous_system_number: number });
const networkAt = (book: GeoipDatabase, address: Address) => book.find(address)?.as?.number;

const BERLIN: Data = {
  city: { names: { en: 'Berlin', de: 'Berlin' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'DE', is_in_european_union: true, names: { en: 'Germany' } },
  registered_country: { iso_code: 'US', names: { en: 'United States' } },
  location: {
    latitude: 52.5196,
    longitude: -13.4069,
    accuracy_radius: 20,
    time_zone: 'Europe/Berlin',
    metro_code: 7,
  },
  postal: { code: '10178' },
  subdivisions: [{ iso_code: 'BE', names: { en: 'Land Berlin' } }],
};

describe('a database', () => {
  test.each([24, 28, 32] as const)('is read with records of %i bits', (recordBits) => {
    const book = open(
      writeMmdb(
        [
          [cidr('192.0.2.0/24'), network(1)],
          [cidr('192.0.2.128/25'), network(2)],
          [cidr('2001:db8::/32'), network(6)],
          [cidr('203.0.113.7/32'), network(7)],
        ],
        { recordBits },
      ),
    );
    expect(networkAt(book, ip('192.0.2.1'))).toBe(1);
    expect(networkAt(book, ip('192.0.2.200'))).toBe(2);
    expect(networkAt(book, ip('192.0.3.1'))).toBeUndefined();
    expect(networkAt(book, ip('203.0.113.7'))).toBe(7);
    expect(networkAt(book, ip('203.0.113.6'))).toBeUndefined();
    expect(networkAt(book, ip('2001:db8:1::9'))).toBe(6);
    expect(networkAt(book, ip('2001:db9::'))).toBeUndefined();
  });

  test('with only IPv4 has no IPv6 address', () => {
    const book = open(writeMmdb([[cidr('0.0.0.0/1'), network(5)]], { ipVersion: 4, recordBits: 24 }));
    expect(networkAt(book, ip('127.0.0.1'))).toBe(5);
    expect(networkAt(book, ip('128.0.0.1'))).toBeUndefined();
    expect(networkAt(book, ip('::1'))).toBeUndefined();
  });

  test('of random ranges finds the same as a scan of the list', () => {
    const random = seeded(21);
    const word = () => Math.floor(random() * 2 ** 32);
    const rows: [Cidr, number][] = Array.from({ length: 300 }, (_, index) => {
      const bits = 4 + Math.floor(random() * 29);
      const lowest = (word() >>> (32 - bits)) * 2 ** (32 - bits);
      const { text } = addressOf({ w0: 0, w1: 0, w2: 0xffff, w3: lowest });
      return [cidr(`${text}/${bits}`), index];
    });
    rows.sort(([one], [other]) => one.bits - other.bits);
    const book = open(writeMmdb(rows.map(([range, index]) => [range, network(index)])));
    for (let count = 0; count < runs(5_000, 500); count++) {
      const address = addressOf({ w0: 0, w1: 0, w2: 0xffff, w3: word() });
      expect(networkAt(book, address)).toBe(rows.findLast(([range]) => contains(range, address))?.[1]);
    }
  });

  test('provides places, networks and Tor nodes as our facts', () => {
    const city = open(writeMmdb([[cidr('203.0.113.0/24'), BERLIN]], { databaseType: 'GeoLite2-City' }));
    const asn = open(
      writeMmdb([
        [
          cidr('203.0.112.0/20'),
          { autonomous_system_number: 64_500, autonomous_system_organization: 'Example Net' },
        ],
      ]),
    );
    const anonymous = open(
      writeMmdb([[cidr('203.0.113.7/32'), { is_anonymous: true, is_tor_exit_node: true }]]),
    );
    const { facts, diagnostics } = compileFacts([], '', [city, asn, anonymous]);
    expect(diagnostics).toEqual([]);
    const at = activation({ surroundings: { facts } });
    const expected = {
      'conn.geo.city': 'Berlin',
      'conn.geo.country_code': 'DE',
      'conn.geo.latitude': '52.5196',
      'conn.geo.longitude': '-13.4069',
      'conn.geo.radius': '20',
      'conn.geo.subdivision': 'Land Berlin',
      'conn.client_ip.geo.location.is_eu': true,
      'conn.client_ip.geo.location.continent': 'Europe',
      'conn.client_ip.geo.location.postal_code': '10178',
      'conn.client_ip.geo.location.metro_code': '7',
      'conn.client_ip.geo.location.timezone': 'Europe/Berlin',
      'conn.client_ip.geo.registered_location.country_code': 'US',
      'conn.client_ip.geo.registered_location.is_eu': false,
      'conn.client_ip.as.number': 64_500,
      'conn.client_ip.as.organization': 'Example Net',
      'conn.client_ip.is_tor_node': true,
      'has(conn.client_ip.categories)': false,
      'has(conn.client_ip.is_on_blocklist)': false,
      'has(conn.server_ip.geo)': false,
    };
    expect(valuesOf(Object.keys(expected), at)).toEqual(expected);
  });
});

describe('an invalid file', () => {
  const good = writeMmdb([[cidr('203.0.113.0/24'), BERLIN]]);

  test('is reported', () => {
    expect(openMmdb(new Uint8Array())).toEqual({ problem: expect.stringContaining('no metadata') });
    expect(openMmdb(Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'))).toHaveProperty('problem');
    expect(openMmdb(good.subarray(700))).toEqual({ problem: 'the database is truncated' });
    const newer = Buffer.from(good);
    const major = newer.indexOf('binary_format_major_version') + 'binary_format_major_version'.length;
    newer[major + 1] = 3;
    expect(openMmdb(newer)).toEqual({ problem: 'the database has a format other than 2' });
  });

  test('pointers in circles and out of the section count as missing', () => {
    // {"autonomous_system_number": <pointer>}: to the map itself, and out of the file.
    for (const pointer of [
      [0x20, 0x00],
      [0x3f, 0xff, 0xff, 0xff, 0xff],
    ]) {
      const broken = Buffer.concat([
        Buffer.from([0xe1]),
        encode('autonomous_system_number'),
        Buffer.from(pointer),
      ]);
      const book = open(writeMmdb([[cidr('203.0.113.0/24'), broken]]));
      expect(book.find(ip('203.0.113.7'))).toBeUndefined();
    }
  });

  test('a record of pointers to pointers does not cost what it would be when written out', () => {
    // Sixteen arrays, each of 64 pointers to the one before: 64^16 values.
    const levels: [Cidr, Buffer][] = [[cidr('127.0.0.0/8'), encode('x')]];
    let [last, end] = [0, encode('x').length];
    for (let level = 0; level < 16; level++) {
      const pointer = Buffer.from([0x20 | (last >>> 8), last & 255]);
      const array = Buffer.concat([
        Buffer.from([29, 4, 64 - 29]),
        ...Array.from({ length: 64 }, () => pointer),
      ]);
      levels.push([cidr(`${203 - 15 + level}.0.0.0/8`), array]);
      [last, end] = [end, end + array.length];
    }
    const book = open(writeMmdb(levels));
    expect(book.find(ip('203.0.113.7'))).toEqual({});
  });

  test('changed at random never throws and never hangs', () => {
    const addresses = [ip('203.0.113.7'), ip('8.8.8.8'), ip('2001:db8::1')];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.option(fc.nat(good.length), { freq: 4 }),
        (changes, cut) => {
          const bytes = Buffer.from(good);
          for (const [at, byte] of changes) bytes[at] = byte;
          const book = openMmdb(cut === null ? bytes : bytes.subarray(cut));
          if (isMmdbProblem(book)) return;
          const found = addresses.map((address) => book.find(address));
          expect(found.every((facts) => facts === undefined || typeof facts === 'object')).toBe(true);
        },
      ),
      sized(20_000, 14),
    );
  });
});
