import { describe, expect, test } from 'vitest';
import type { Comparison } from '../../src/analysis/comparison.ts';
import { compare } from '../../src/analysis/diff.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { onePolicy, oneRoute } from '../one_route.ts';

function compared(old: object, next: object): Comparison {
  const [before, after] = [old, next].map((each) => ({ config: createEdge(each).config }));
  return compare(before!, after!);
}

const deny = (expression: string, status = 403) => ({
  expressions: [expression],
  actions: [{ type: 'deny', config: { status_code: status } }],
});
const header = (expression: string, name = 'x-a') => ({
  expressions: [expression],
  actions: [{ type: 'add-headers', config: { headers: { [name]: '1' } } }],
});
const policies = (old: readonly object[], next: readonly object[]): Comparison =>
  compared(onePolicy({ on_http_request: old }), onePolicy({ on_http_request: next }));

describe('what is proved equivalent', () => {
  const pairs: readonly (readonly [string, readonly object[], readonly object[]])[] = [
    ['the same', [deny("req.url.path == '/a'")], [deny("req.url.path == '/a'")]],
    [
      'swapped terms',
      [deny("req.method == 'PUT' && req.url.path == '/a'")],
      [deny("req.url.path == '/a' && req.method == 'PUT'")],
    ],
    [
      'disjoint rules in another order',
      [deny("req.method == 'PUT'"), deny("req.method == 'POST'", 404)],
      [deny("req.method == 'POST'", 404), deny("req.method == 'PUT'")],
    ],
    [
      'a pattern and a prefix',
      [header("req.user_agent.matches('^curl/')")],
      [header("req.user_agent.startsWith('curl/')")],
    ],
    [
      'equal patterns',
      [header("req.url.path.matches('^/v(1|2)/')")],
      [header("req.url.path.matches('^/v[12]/')")],
    ],
    [
      'a split range',
      [deny("inCidrRange(conn.client_ip, '10.0.0.0/8')")],
      [deny("inCidrRanges(conn.client_ip, ['10.0.0.0/9', '10.128.0.0/9'])")],
    ],
    [
      'a rule that can never apply',
      [deny("req.method == 'PUT'"), header("req.method == 'PUT'")],
      [deny("req.method == 'PUT'")],
    ],
    [
      'an opaque condition in both',
      [deny("size(req.headers) > 40 && req.method == 'GET'")],
      [deny("req.method == 'GET' && size(req.headers) > 40")],
    ],
    [
      'a mapped range and its IPv4 form',
      [deny("inCidrRange(conn.client_ip, '::ffff:10.0.0.0/104')")],
      [deny("inCidrRange(conn.client_ip, '10.0.0.0/8')")],
    ],
  ];
  test.each(pairs)('%s', (_name, old, next) => {
    expect(policies(old, next)).toMatchObject({ verdict: 'equivalent', changes: [], undecided: [] });
  });

  test('routes in another order, and ranges in another order', () => {
    const policy = (rules: readonly object[]) =>
      oneRoute({ ip_restriction: { ip_policy_ids: ['p'] } }, { ip_policies: { p: { rules } } });
    const [one, other] = [
      { cidr: '10.0.0.0/8', action: 'allow' },
      { cidr: '10.1.0.0/16', action: 'deny' },
    ];
    expect(
      compared(policy([one, other]), policy([other, one, { cidr: '10.2.0.0/16', action: 'allow' }])).verdict,
    ).toBe('equivalent');
  });
});

describe('what differs', () => {
  test('a renamed gate', () => {
    const gated = (match: string) => {
      const edge = oneRoute(
        {},
        { ip_policies: { office: { rules: [{ cidr: '203.0.113.0/25', action: 'allow' }] } } },
      );
      const gate = {
        match_type: 'path_prefix',
        match,
        backend: { backend_id: 'app' },
        ip_restriction: { ip_policy_ids: ['office'] },
      };
      edge.edges.https.shop.routes.push(gate);
      return edge;
    };
    const { changes } = compared(gated('/admin'), gated('/health'));
    expect(
      changes.map(({ change, where, size: { addresses }, witness }) => ({
        change,
        where,
        addresses,
        url: witness.url,
      })),
    ).toEqual([
      {
        change: 'OPENED',
        where: 'shop.test/admin…',
        addresses: { v4: 2n ** 32n - 128n, v6: 2n ** 128n - 2n ** 32n },
        url: 'https://shop.test/admin',
      },
      {
        change: 'CLOSED',
        where: 'shop.test/health…',
        addresses: { v4: 2n ** 32n - 128n, v6: 2n ** 128n - 2n ** 32n },
        url: 'https://shop.test/health',
      },
    ]);
    const back = compared(gated('/health'), gated('/admin')).changes;
    expect(back.map(({ change, where }) => `${change} ${where}`).toSorted()).toEqual([
      'CLOSED shop.test/admin…',
      'OPENED shop.test/health…',
    ]);
  });

  test.each([
    ['a method', [deny("req.method == 'PUT'")], [deny("req.method == 'POST'")], ['CLOSED', 'OPENED']],
    [
      'an anchor',
      [deny("req.url.path.matches('^/admin')")],
      [deny("req.url.path.matches('/admin')")],
      ['CLOSED'],
    ],
    [
      'one address',
      [deny("inCidrRange(conn.client_ip, '10.0.0.0/8')")],
      [deny("inCidrRange(conn.client_ip, '10.0.0.0/9')")],
      ['OPENED'],
    ],
    [
      'a guard against errors',
      [deny("req.headers['x-a'][0] == '1'")],
      [deny("'x-a' in req.headers && req.headers['x-a'][0] == '1'")],
      ['OPENED'],
    ],
    [
      'order',
      [header("req.method == 'GET'"), deny("'x-a' in req.headers")],
      [deny("'x-a' in req.headers"), header("req.method == 'GET'")],
      ['OPENED'],
    ],
    ['a header', [header('true')], [header('true', 'x-b')], ['CHANGED']],
    ['chance', [deny('rand.double() < 0.01')], [deny('rand.double() < 0.02')], ['CLOSED']],
    ['a number', [deny('req.content_length > 100')], [deny('req.content_length > 200')], ['OPENED']],
    [
      'one of several values',
      [deny("getReqHeader('x-a').exists(v, v == 'a')")],
      [deny("getReqHeader('x-a')[0] == 'a'")],
      ['CLOSED', 'OPENED'],
    ],
    [
      'a cookie',
      [deny("req.cookies['a'].exists(c, c.value == ' x')")],
      [deny("req.cookies['a'].exists(c, c.value == 'x')")],
      ['CLOSED', 'OPENED'],
    ],
    [
      'a parameter',
      [deny("getQueryParam('q').exists(v, v.contains('&'))")],
      [deny("getQueryParam('q').all(v, v.contains('&'))")],
      ['CLOSED', 'OPENED'],
    ],
  ] as const)('%s', (_name, old, next, words) => {
    const { verdict, changes } = policies(old, next);
    expect(verdict).toBe('different');
    expect([...new Set(changes.map(({ change }) => change))].toSorted()).toEqual(words);
    for (const { replayed } of changes) expect(replayed.before.seen).not.toBe(replayed.after.seen);
  });
});

describe('what is not decided', () => {
  test.each([
    [
      'other opaque conditions',
      deny("req.headers.exists(name, name.startsWith('x-'))"),
      deny("req.headers.exists(each, each.startsWith('x-'))"),
      "req.headers.exists(name, name.startsWith('x-'))",
    ],
    [
      'a pattern with too many states',
      header("req.url.path.matches('a.{20}$')"),
      header("req.url.path.matches('a.{20}$') && true || req.url.path.matches('a.{20}$b')"),
      'a.{20}$',
    ],
    ['facts', deny('conn.client_ip.is_tor_node'), deny('conn.client_ip.is_on_blocklist'), 'is_tor_node'],
  ])('%s', (_name, old, next, reason) => {
    const { verdict, undecided } = policies([old], [next]);
    expect(verdict).toBe('undecided');
    expect(undecided.flatMap(({ reasons }) => reasons).join()).toContain(reason);
  });

  test('guards of the response phase have other spellings, too', () => {
    const gate = (expression: string) => ({
      on_http_response: [
        { expressions: [expression], actions: [{ type: 'restrict-ips', config: { allow: ['10.0.0.0/8'] } }] },
      ],
    });
    // Both are true for the same paths, but only the first is also true for /%61 and /A.
    const [loose, literal] = ["req.url.path.matches('^/a$')", "req.url.path.matches('^/a$|^;$')"];
    expect(compared(onePolicy(gate(loose)), onePolicy(gate(literal))).verdict).not.toBe('equivalent');
    expect(compared(onePolicy(gate(loose)), onePolicy(gate(loose))).verdict).toBe('equivalent');
  });

  test('two draws of chance are two conditions', () => {
    const once = deny('rand.double() < 0.01');
    expect(policies([once], [once, once]).verdict).not.toBe('equivalent');
  });

  test('another TCP edge', () => {
    const edge = (port: number) => {
      const made = oneRoute();
      const tcp = { db: { hostports: [`1.tcp.test:${port}`], backend: { backend_id: 'app' } } };
      return { ...made, edges: { ...made.edges, tcp } };
    };
    expect(compared(edge(5432), edge(5433))).toMatchObject({
      verdict: 'undecided',
      undecided: [{ where: 'TCP edges' }],
    });
  });
});
