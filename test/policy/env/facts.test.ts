import { describe, expect, test } from 'vitest';
import { withPrefixes } from '../../../src/policy/env/facts.ts';
import { compileFacts } from '../../../src/policy/env/facts_table.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { activation, evaluate, valuesOf } from './exchange.ts';

const ENTRIES = [
  {
    cidr: '203.0.113.0/24',
    geo: { location: { country_code: 'DE', city: 'Jena', latitude: 50.92, is_eu: true } },
    as: { number: 64_500, organization: 'Example Net' },
    categories: ['com.github.hooks', 'com.example'],
  },
  { cidr: '203.0.113.7', 'geo.location.country_code': 'FR', is_tor_node: true },
  { cidr: '2001:db8::/32', 'as.number': 64_501 },
];

const at = (entries: unknown, client = '203.0.113.7') =>
  activation({
    surroundings: { facts: compileFacts(entries).facts },
    connection: { client: parseAddress(client)! },
  });

describe('facts', () => {
  test('come from the most specific range only', () => {
    expect(evaluate('conn.geo.country_code', at(ENTRIES))).toBe('FR');
    expect(evaluate('has(conn.geo.city)', at(ENTRIES))).toBe(false);
    expect(evaluate('conn.client_ip.is_tor_node', at(ENTRIES))).toBe(true);
    expect(evaluate('conn.geo.country_code + conn.geo.city', at(ENTRIES, '203.0.113.8'))).toBe('DEJena');
    expect(evaluate('conn.client_ip.as.number', at(ENTRIES, '203.0.113.8'))).toBe(64_500);
    expect(evaluate('conn.client_ip.as.number', at(ENTRIES, '2001:db8::9'))).toBe(64_501);
  });

  test('an address in the table is neither listed nor a Tor node unless the table says so', () => {
    const known = at(ENTRIES, '203.0.113.8');
    expect(evaluate('conn.client_ip.is_on_blocklist || conn.client_ip.is_tor_node', known)).toBe(false);
    expect(evaluate('conn.client_ip.categories', at(ENTRIES, '2001:db8::9'))).toEqual([]);
  });

  test('are absent outside the table: an error, and has() is false', () => {
    const unknown = at(ENTRIES, '198.18.0.1');
    for (const path of ['geo', 'as', 'categories', 'is_tor_node', 'is_on_blocklist']) {
      const outcomes = [
        evaluate(`has(conn.client_ip.${path})`, unknown),
        evaluate(`conn.client_ip.${path}`, unknown),
      ];
      expect(outcomes).toMatchObject([false, { code: 'expr.absent', message: `\`${path}\` is absent` }]);
    }
    expect(evaluate("conn.geo.country_code == 'DE'", unknown)).toMatchObject({ code: 'expr.absent' });
    expect(evaluate("conn.client_ip == '198.18.0.1'", unknown)).toBe(true);
  });

  test('numbers of latitude and longitude are text', () => {
    expect(evaluate('conn.geo.latitude', at(ENTRIES, '203.0.113.8'))).toBe('50.92');
  });

  test('categories include every prefix', () => {
    expect(withPrefixes(['com.github.hooks', 'com.example'])).toEqual([
      'com',
      'com.github',
      'com.github.hooks',
      'com.example',
    ]);
    const known = at(ENTRIES, '203.0.113.8');
    expect(
      evaluate(
        "'com.github' in conn.client_ip.categories && !('github' in conn.client_ip.categories)",
        known,
      ),
    ).toBe(true);
  });

  test('of the server are looked up by its own address', () => {
    const server = at([{ cidr: '198.51.100.0/24', as: { organization: 'Edge' } }]);
    expect(evaluate('conn.server_ip.as.organization', server)).toBe('Edge');
    expect(evaluate('has(conn.client_ip.as)', server)).toBe(false);
    const named = activation({
      connection: { serverIp: 'localhost' },
      surroundings: { facts: compileFacts(ENTRIES).facts },
    });
    expect(evaluate("has(conn.server_ip.geo) || conn.server_ip != 'localhost'", named)).toBe(false);
  });

  test('by variable name take precedence over ranges', () => {
    const named = at([
      ...ENTRIES,
      {
        variables: {
          'conn.geo.city': 'Gera',
          'conn.client_ip.is_on_blocklist': true,
          'conn.server_region': 'eu',
        },
      },
      {
        variables: {
          conn: { k8s: { pod: { id: 'p1', metadata: { name: 'web-0', annotations: { a: 'b' } } } } },
          'conn.tls.ja4_fingerprint': 't13d',
          'conn.server_ip.as.number': 7,
        },
      },
    ]);
    const expected = {
      'conn.geo.city': 'Gera',
      'conn.client_ip.geo.location.city': 'Gera',
      'conn.client_ip.is_on_blocklist': true,
      // Members that the variables do not give still come from the ranges.
      'conn.client_ip.is_tor_node': true,
      'conn.server_region': 'eu',
      'conn.k8s.pod.metadata.name': 'web-0',
      "conn.k8s.pod.metadata.annotations['a']": 'b',
      'has(conn.k8s.pod.metadata.namespace)': false,
      'conn.tls.ja4_fingerprint': 't13d',
      'conn.server_ip.as.number': 7,
    };
    expect(valuesOf(Object.keys(expected), named)).toEqual(expected);
  });

  test.each([
    [[{ cidr: '203.0.113.1/24' }], '/0/cidr', 'bits set beyond its mask'],
    [
      [{ cidr: '203.0.113.0/24', geo: { location: { countrycode: 'DE' } } }],
      '/0/geo/location/countrycode',
      "'countrycode' is not",
    ],
    [[{ cidr: '203.0.113.0/24', as: { number: 'x' } }], '/0/as/number', 'a whole number'],
    [[{ cidr: '203.0.113.0/24', as: 5 }], '/0/as', 'a map with number, organization'],
    [[{ cidr: '203.0.113.0/24', categories: 'x' }], '/0/categories', 'a list of strings'],
    [[{ geo: {} }], '/0', 'needs `cidr` or `variables`'],
    [[{ cidr: '203.0.113.0/24', variables: {} }], '/0', 'not both'],
    [[{ variables: { 'conn.geo.town': 'x' } }], '/0/variables/conn/geo/town', "'town' is not"],
    [[{ variables: { 'req.method': 'x' } }], '/0/variables/req', "'req' is not"],
    [[{ variables: [] }], '/0/variables', 'a map from names'],
    [['x'], '/0', 'an entry of facts has to be a map'],
    ['x', '', 'a list of entries'],
    [{ cidr: 'x' }, '/cidr', "'cidr' is not"],
    [[{ variables: {}, geo: {} }], '/0/geo', 'together with'],
    [[{ cidr: '203.0.113.0/24', ['a.'.repeat(20)]: 1 }], `/0/${'a.'.repeat(20)}`, 'not the name of a fact'],
  ])('%j is refused at %s', (entries, pointer, message) => {
    const { diagnostics } = compileFacts(entries, '/facts');
    expect(diagnostics.map((one) => one.pointer)).toEqual([`/facts${pointer}`]);
    expect(diagnostics[0]!.message).toContain(message);
  });

  test('may be a map of variables alone', () => {
    expect(evaluate('conn.geo.city', at({ 'conn.geo.city': 'Gera' }))).toBe('Gera');
  });

  test('without a table there are no facts and no findings', () => {
    expect(compileFacts(undefined).diagnostics).toEqual([]);
    expect(evaluate('has(conn.client_ip.geo)', at(undefined))).toBe(false);
  });
});
