import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileFacts } from '../../../src/policy/env/facts_table.ts';
import { isMmdbProblem, type MmdbDatabase, openMmdb } from '../../../src/policy/env/mmdb.ts';
import { readData } from '../../../src/policy/env/mmdb_data.ts';
import { addressOf, parseAddress } from '../../../src/net/address.ts';
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

function open(bytes: Uint8Array): MmdbDatabase {
  const book = openMmdb(bytes);
  if (isMmdbProblem(book)) throw new Error(book.problem);
  return book;
}

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
          [cidr('192.0.2.0/24'), { name: 'wide' }],
          [cidr('192.0.2.128/25'), { name: 'narrow' }],
          [cidr('2001:db8::/32'), { name: 'six' }],
          [cidr('203.0.113.7/32'), { name: 'one' }],
        ],
        { recordBits },
      ),
    );
    expect(book.databaseType).toBe('Test');
    expect(book.buildEpoch).toBe(1_700_000_000);
    expect(book.record(ip('192.0.2.1'))).toEqual({ name: 'wide' });
    expect(book.record(ip('192.0.2.200'))).toEqual({ name: 'narrow' });
    expect(book.record(ip('192.0.3.1'))).toBeUndefined();
    expect(book.record(ip('203.0.113.7'))).toEqual({ name: 'one' });
    expect(book.record(ip('203.0.113.6'))).toBeUndefined();
    expect(book.record(ip('2001:db8:1::9'))).toEqual({ name: 'six' });
    expect(book.record(ip('2001:db9::'))).toBeUndefined();
  });

  test('with only IPv4 has no IPv6 address', () => {
    const book = open(writeMmdb([[cidr('0.0.0.0/1'), { low: true }]], { ipVersion: 4, recordBits: 24 }));
    expect(book.record(ip('127.0.0.1'))).toEqual({ low: true });
    expect(book.record(ip('128.0.0.1'))).toBeUndefined();
    expect(book.record(ip('::1'))).toBeUndefined();
  });

  test('of random ranges finds the same as a scan of the list', () => {
    const random = seeded(21);
    const word = () => Math.floor(random() * 2 ** 32);
    const rows: [Cidr, Data][] = Array.from({ length: 300 }, (_, index) => {
      const bits = 4 + Math.floor(random() * 29);
      const lowest = (word() >>> (32 - bits)) * 2 ** (32 - bits);
      const { text } = addressOf({ w0: 0, w1: 0, w2: 0xffff, w3: lowest });
      return [cidr(`${text}/${bits}`), { index }];
    });
    rows.sort(([one], [other]) => one.bits - other.bits);
    const book = open(writeMmdb(rows));
    for (let count = 0; count < runs(5_000, 500); count++) {
      const address = addressOf({ w0: 0, w1: 0, w2: 0xffff, w3: word() });
      expect(book.record(address)).toEqual(rows.findLast(([range]) => contains(range, address))?.[1]);
    }
  });

  test('supports every type of value', () => {
    const data: Data = {
      text: 'ü'.repeat(300),
      none: '',
      many: [1, 255, 65_536, 4_294_967_295, 0, 2.5, -1.25],
      yes: true,
      no: false,
      big: 2n ** 63n,
    };
    expect(open(writeMmdb([[cidr('0.0.0.0/0'), data]])).record(ip('9.9.9.9'))).toEqual(data);
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

  test('pointers inside the section are followed, cycles and pointers outside are not', () => {
    // {"a": <pointer to offset 0>} points at itself.
    const circle = Buffer.concat([Buffer.from([0xe1]), encode('a'), Buffer.from([0x20, 0x00])]);
    expect(readData(circle, 0)).toBeUndefined();
    const shared = Buffer.concat([encode('text'), Buffer.from([0x20, 0x00])]);
    expect(readData(shared, 5)).toBe('text');
    const chained = Buffer.concat([encode('text'), Buffer.from([0x20, 0x00]), Buffer.from([0x20, 0x05])]);
    expect(readData(chained, 7)).toBeUndefined();
    expect(readData(Buffer.from([0x3f, 0xff, 0xff, 0xff, 0xff]), 0)).toBeUndefined();
    expect(readData(shared, 99)).toBeUndefined();
    expect(readData(shared, -1)).toBeUndefined();
  });

  test('a record cannot exceed its size limit', () => {
    // Sixteen arrays, each of pointers to the one before: 64^16 values.
    let section = encode('x');
    let last = 0;
    for (let level = 0; level < 16; level++) {
      const start = section.length;
      const pointer = Buffer.from([0x20 | (last >>> 8), last & 255]);
      section = Buffer.concat([
        section,
        Buffer.from([29, 4, 64 - 29]),
        ...Array.from({ length: 64 }, () => pointer),
      ]);
      last = start;
    }
    const started = performance.now();
    expect(readData(section, last)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(10_000);
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
