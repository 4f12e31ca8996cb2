import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { compare } from '../../src/analysis/diff.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';

const FACTS = [
  { cidr: '203.0.113.0/24', geo: { location: { country_code: 'DE' } }, is_tor_node: false },
  { cidr: '203.0.113.128/25', geo: { location: { country_code: 'FR' } }, is_tor_node: true },
  { cidr: '2001:db8::/32', geo: { location: { country_code: 'DE' } } },
];

function edge(expression: string, facts: unknown = FACTS, more: object = {}) {
  const rule = { expressions: [expression], actions: [{ type: 'deny' }] };
  const value = JSON.stringify({ on_http_request: [rule] });
  return createEdge(oneRoute({ traffic_policy: { value } }, { ...(facts !== null && { facts }), ...more }))
    .config;
}

test.each([
  ["conn.geo.country_code == 'DE'", "inCidrRange(conn.client_ip, '203.0.113.0/25')", 'PROVED'],
  ["conn.geo.country_code == 'DE'", "inCidrRange(conn.client_ip, '2001:db8::/32')", 'PROVED'],
  ["conn.geo.country_code == 'DE'", "inCidrRange(conn.client_ip, '203.0.113.0/24')", 'REFUTED'],
  ["conn.geo.country_code in ['DE', 'FR']", "inCidrRange(conn.client_ip, '203.0.113.0/24')", 'PROVED'],
  ['conn.client_ip.is_tor_node', "inCidrRange(conn.client_ip, '203.0.113.128/25')", 'PROVED'],
  ['conn.client_ip.is_tor_node', "inCidrRange(conn.client_ip, '203.0.113.0/25')", 'REFUTED'],
  ['!conn.client_ip.is_tor_node', "inCidrRange(conn.client_ip, '203.0.113.0/25')", 'PROVED'],
  ["conn.client_ip == '203.0.113.9' && conn.client_ip.is_tor_node", 'true', 'REFUTED'],
])('%s, and requests with %s', (rule, where, expected) => {
  const proof = prove(edge(rule), { name: 'closed', where, never: { end: 'forwarded' } });
  expect(proof.verdict).toBe(expected);
});

test('what the table does not say is not known', () => {
  const where = "inCidrRange(conn.client_ip, '192.0.2.0/24')";
  const property = { name: 'closed', where, never: { end: 'forwarded' } } as const;
  expect(prove(edge("conn.geo.country_code == 'DE'"), property).verdict).not.toBe('PROVED');
  const tor = { name: 'tor', where: 'conn.client_ip.is_tor_node', never: { end: 'forwarded' } } as const;
  expect(prove(edge('conn.client_ip.is_tor_node', null), tor).verdict).toBe('PROVED');
});

test('what the table does not say, a database may', () => {
  const databases = { address_databases: ['city.mmdb'] };
  const [one, other] = ['has(conn.geo.country_code)', "inCidrRange(conn.client_ip, '203.0.113.0/24')"].map(
    (expression) => ({ config: edge(expression, FACTS.slice(0, 2), databases) }),
  );
  expect(compare(one!, other!).verdict).not.toBe('equivalent');
});

test('changes of a fact are found', () => {
  const [one, other] = [FACTS, FACTS.slice(0, 2)].map((facts) => ({
    config: edge("has(conn.geo.country_code) && conn.geo.country_code == 'DE'", facts),
  }));
  expect(compare(one!, other!).verdict).toBe('different');
  expect(compare(one!, one!).verdict).toBe('equivalent');
});
