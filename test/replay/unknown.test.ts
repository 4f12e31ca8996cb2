import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareDecisions, compareWithLog } from '../../src/replay/compare.ts';
import type { Decided } from '../../src/replay/decided.ts';
import { configOf, createEdge, deny, eventAt, policyOf, replayed } from './edges.ts';
import { sized } from '../random.ts';

const PLAIN = createEdge(configOf({}));

/** The decision of a policy with these rules on the event of a request. */
function decide(
  rules: readonly object[],
  asked: Parameters<typeof eventAt>[1],
  response: readonly object[] = [],
): Decided {
  return replayed(configOf(policyOf(rules, response))).decide(eventAt(PLAIN, asked));
}

const unknowns = ({ unknown }: Decided) => unknown.map(({ attribute }) => attribute);

describe('values that an event lacks', () => {
  const cases: readonly (readonly [
    expression: string,
    headers: Record<string, string>,
    unknown: string[],
  ])[] = [
    ["getReqHeader('x-lane')[0] == 'Blue'", { 'x-lane': 'Blue' }, ['case of x-lane']],
    ["req.headers['X-Lane'][0] == 'Blue'", { 'x-lane': 'blue' }, ['case of x-lane']],
    // Letters that differ in more than case.
    ["getReqHeader('x-lane')[0] == 'Blue'", { 'x-lane': 'Red' }, []],
    ["getReqHeader('x-lane')[0] != 'Blue'", { 'x-lane': 'Red' }, []],
    // No information is lost.
    ["getReqHeader('x-lane')[0] == '42'", { 'x-lane': '42' }, []],
    ["getReqHeader('x-lane').size() == 0", {}, []],
    ["hasReqHeader('x-lane')", { 'x-lane': 'Blue' }, []],
    ["'x-lane' in req.headers", { 'x-lane': 'Blue' }, []],
    ["getReqHeader('x-lane')[0].lowerAscii() == 'blue'", { 'x-lane': 'Blue' }, []],
    ["req.user_agent.startsWith('Mozilla')", { 'user-agent': 'Mozilla/5.0' }, []],
    ["getReqCookie('a') == 'B'", { cookie: 'a=B' }, ['value of cookie']],
    ["req.version == 'HTTP/2.0'", {}, ['request version']],
    ['conn.client_port == 1', {}, ['client port']],
    ['rand.double() < 0.5', {}, ['chance']],
    ["req.url.path == '/' && conn.client_ip == '203.0.113.9'", {}, []],
    // Kleene logic: a known operand that decides outweighs an unknown one, on either side.
    ["getReqHeader('x-lane')[0] == 'Blue' && req.method == 'POST'", { 'x-lane': 'Blue' }, []],
    ["req.method == 'POST' && getReqHeader('x-lane')[0] == 'Blue'", { 'x-lane': 'Blue' }, []],
    ["getReqHeader('x-lane')[0] == 'Blue' || req.method == 'GET'", { 'x-lane': 'Blue' }, []],
    [
      "!(getReqHeader('x-lane')[0] == 'Blue') && req.method == 'GET'",
      { 'x-lane': 'Blue' },
      ['case of x-lane'],
    ],
    ["(getReqHeader('x-lane')[0] == 'Blue') ? true : true", { 'x-lane': 'Blue' }, []],
    ["(req.method == 'GET') ? false : getReqHeader('x-lane')[0] == 'Blue'", { 'x-lane': 'Blue' }, []],
  ];
  it.each(cases)('%s on %j', (expression, headers, unknown) => {
    expect(unknowns(decide([deny(expression)], { headers }))).toEqual(unknown);
  });

  it('are irrelevant if nothing reads them', () => {
    const decided = decide([deny("req.url.path.startsWith('/admin')"), deny("getReqHeader('x')[0] == 'A'")], {
      path: '/admin',
      headers: { x: 'a' },
    });
    expect(unknowns(decided)).toEqual([]);
    expect(decided.outcome).toBe('stopped');
  });

  it('are tracked through the actions that read them', () => {
    const action = (type: string, config: object) => [{ actions: [{ type, config }] }];
    const authorized = { headers: { authorization: 'Basic YTpi' } };
    expect(
      unknowns(decide(action('basic-auth', { credentials: ['alice:secret-1234'] }), authorized)),
    ).toEqual(['value of authorization']);
    const limit = { name: 'l', algorithm: 'sliding_window', capacity: 5, rate: '60s' };
    const keyed = action('rate-limit', { ...limit, bucket_key: ["getReqHeader('x-key')[0]"] });
    expect(unknowns(decide(keyed, { headers: { 'x-key': 'Abc' } }))).toContain(
      'a text built from missing values',
    );
    const known = action('rate-limit', { ...limit, bucket_key: ['conn.client_ip'] });
    expect(unknowns(decide(known, {}))).toEqual([]);
    const logged = action('log', { metadata: { lane: "${getReqHeader('x-lane')[0]}" } });
    expect(unknowns(decide(logged, { headers: { 'x-lane': 'Blue' } }))).toEqual([]);
    const fetching = action('http-request', { url: 'https://authz.test/check' });
    expect(unknowns(decide(fetching, {}))).toEqual(['answer of https://authz.test/check']);
  });

  it('are tracked through variables and headers built from them', () => {
    const rules = [
      { actions: [{ type: 'set-vars', config: { vars: [{ lane: "${getReqHeader('x-lane')[0]}" }] } }] },
      deny("vars.lane == 'Blue'"),
    ];
    expect(unknowns(decide(rules, { headers: { 'x-lane': 'Blue' } }))).toEqual(['variables']);
    expect(unknowns(decide(rules, { headers: { 'x-lane': '7' } }))).toEqual([]);
  });

  it('include bodies for webhooks', () => {
    const edge = replayed(
      configOf({ webhook_verification: { provider: 'github', secret: 'it is a secret' } }),
    );
    const decided = edge.decide(eventAt(PLAIN, { method: 'POST' }));
    expect(unknowns(decided)).toContain('request body');
  });

  it('include the letter case of the key of a WebSocket', () => {
    const edge = replayed(configOf({ websocket_tcp_converter: {} }));
    const asked = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const opened = edge.decide(eventAt(PLAIN, { headers: { ...asked, ...key }, status: 101 }));
    expect(unknowns(opened)).toEqual(['value of sec-websocket-key']);
    expect(unknowns(edge.decide(eventAt(PLAIN, { status: 400 })))).toEqual([]);
  });

  it('make counters unknown for the length of their windows', () => {
    const limit = {
      name: 'l',
      algorithm: 'sliding_window',
      capacity: 1,
      rate: '60s',
      bucket_key: ['conn.client_ip'],
    };
    const rules = [
      deny("hasReqHeader('x') && getReqHeader('x')[0] == 'A'"),
      { actions: [{ type: 'rate-limit', config: limit }] },
    ];
    const edge = replayed(configOf(policyOf(rules)));
    const at = (ms: number, headers = {}) => ({ ...eventAt(PLAIN, { headers }), atMs: ms });
    expect(unknowns(edge.decide(at(1_000)))).toEqual([]);
    expect(unknowns(edge.decide(at(2_000, { x: 'a' })))).toContain('case of x');
    expect(unknowns(edge.decide(at(3_000)))).toEqual(['counters']);
    expect(unknowns(edge.decide(at(3_000_000)))).toEqual([]);
  });
});

/** Conditions over three headers, which `recorded` has and lower case loses. */
const atom = fc.constantFrom(
  "getReqHeader('a')[0] == 'Xy'",
  "getReqHeader('b')[0] == 'xY'",
  "getReqHeader('c')[0].startsWith('X')",
  "req.method == 'POST'",
  "req.url.path == '/p'",
  "hasReqHeader('c')",
);
const expression: fc.Arbitrary<string> = fc.letrec<{ e: string }>((tie) => ({
  e: fc.oneof(
    { maxDepth: 3 },
    atom,
    fc.tuple(tie('e'), fc.constantFrom('&&', '||'), tie('e')).map(([l, op, r]) => `(${l} ${op} ${r})`),
    tie('e').map((e) => `!(${e})`),
    fc.tuple(tie('e'), tie('e'), tie('e')).map(([c, y, n]) => `(${c} ? ${y} : ${n})`),
  ),
})).e;
const value = fc.constantFrom('Xy', 'xY', 'XY', 'xy', 'zz', '77');

describe('a certain decision', () => {
  it('is the original one, whatever the log lacks', () => {
    fc.assert(
      fc.property(
        expression,
        fc.record({ a: value, b: value, c: value }),
        fc.constantFrom('GET', 'POST'),
        fc.constantFrom('/p', '/q'),
        (condition, headers, method, path) => {
          const config = configOf(policyOf([deny(condition)]));
          let live: ReturnType<typeof createEdge>;
          try {
            live = createEdge(config);
          } catch {
            return; // a constant condition may be refused
          }
          const decided = replayed(config).decide(eventAt(live, { headers, method, path }));
          if (decided.unknown.length > 0) return;
          const truly = live.decide({ method, url: `https://shop.test${path}`, headers });
          expect(decided.outcome).toBe(truly.status === 403 ? 'stopped' : 'forwarded');
        },
      ),
      sized(400, 7),
    );
  });
});

describe('comparing', () => {
  const before = replayed(configOf({}));
  const judged = (after: object, asked: Parameters<typeof eventAt>[1] = {}) => {
    const record = eventAt(PLAIN, asked);
    return compareDecisions(before.decide(record), replayed(after).decide(record));
  };

  it('reports changes', () => {
    expect(judged(configOf({}))).toMatchObject({ finding: 'same', cause: 'forwarded to app' });
    expect(judged(configOf({ backend: { backend_id: 'other' } }))).toMatchObject({
      finding: 'changed',
      cause: 'forwarded to app → forwarded to other',
    });
    expect(judged(configOf(policyOf([deny("req.method == 'GET'")]))).cause).toBe(
      'forwarded to app → 403 by traffic_policy (traffic_policy.denied)',
    );
    const moved = { backends: { app: { static: { address: 'localhost:9' } } } };
    expect(judged(configOf({}, moved)).cause).toBe('forwarded to app: at localhost:3000 → at localhost:9');
    expect(judged(configOf({ request_headers: { add: { 'x-a': 'b' } } })).cause).toBe(
      'forwarded to app: the headers sent to it differ',
    );
    expect(judged(configOf({ response_headers: { add: { 'x-a': 'b' } } })).cause).toBe(
      'forwarded to app: the response headers differ',
    );
    const rewrite = [{ actions: [{ type: 'url-rewrite', config: { from: '/a', to: '/b' } }] }];
    expect(judged(configOf(policyOf(rewrite)), { path: '/a' }).cause).toBe(
      'forwarded to app: the path or query sent to it differs',
    );
  });

  it('does not guess random choices', () => {
    const weighted = (app: number) =>
      configOf(
        { backend: { backend_id: 'split' } },
        {
          backends: {
            app: { static: { address: 'localhost:1' } },
            other: { static: { address: 'localhost:2' } },
            split: { weighted: { app, other: 1 } },
          },
        },
      );
    const record = eventAt(PLAIN, {});
    const decidedBy = (config: object) => replayed(config).decide(record);
    expect(compareDecisions(decidedBy(weighted(9)), decidedBy(weighted(9))).finding).toBe('same');
    expect(compareDecisions(decidedBy(weighted(9)), decidedBy(weighted(5)))).toMatchObject({
      finding: 'unknown',
      cause: 'chance: other weights',
    });
  });

  it('compares with the log what clients and backends can observe', () => {
    const office = (cidr: string) => ({ ip_policies: { office: { rules: [{ cidr, action: 'allow' }] } } });
    const restricted = { ip_restriction: { ip_policy_ids: ['office'] } };
    const open = configOf(restricted, office('0.0.0.0/0'));
    const closed = configOf(restricted, office('192.0.2.0/24'));
    const found = (recordedBy: object, config: object) =>
      compareWithLog(
        replayed(config).decide(eventAt(createEdge(recordedBy), {})),
        eventAt(createEdge(recordedBy), {}),
      ).finding;
    // A module that let the request pass, in only one of them.
    expect(found(configOf({}), open)).toBe('same');
    expect(found(open, configOf({}))).toBe('same');
    expect(found(configOf({}), configOf({ circuit_breaker: {} }))).toBe('same');
    expect(found(closed, closed)).toBe('same');
    expect(found(configOf({}), closed)).toBe('changed');
    expect(found(closed, configOf({}))).toBe('changed');
    // The same status from another module.
    const refusing = configOf({ user_agent_filter: { deny: ['.*'] } });
    expect(found(closed, refusing)).toBe('changed');
  });

  it('does not guess whether the edge or the upstream responded', () => {
    const blocked = createEdge(configOf(policyOf([deny("req.method == 'GET'")])));
    const record = eventAt(blocked, {});
    expect(compareWithLog(replayed(configOf({})).decide(record), record)).toMatchObject({
      finding: 'unknown',
      cause: 'who answered 403',
    });
    const readsStatus = [
      {
        expressions: ['res.status_code == 500'],
        actions: [{ type: 'add-headers', config: { headers: { a: 'b' } } }],
      },
    ];
    const decided = replayed(configOf(policyOf([], readsStatus))).decide(record);
    expect(decided.status).toBe(403);
  });
});
