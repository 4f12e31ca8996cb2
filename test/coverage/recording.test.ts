import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import { percentOf } from '../../src/coverage/measure.ts';
import { failureLines } from '../../src/simulator/report/failure.ts';
import { shownConditions } from '../../src/coverage/vectors.ts';
import { coveredBy, edgeOf, edgeWith, pointThat, policyEdge, runCases, told } from './covered.ts';
import { sized } from '../random.ts';

const POLICIES = {
  office: {
    rules: [
      { cidr: '192.0.2.0/24', action: 'allow' },
      { cidr: '192.0.2.128/25', action: 'deny' },
    ],
  },
};

describe('what cases cover', () => {
  it('is nothing before they run', () => {
    const { tallies } = coverageOf(coveredEdge(edgeWith({})));
    expect(tallies.map(({ covered }) => covered)).toEqual(tallies.map(() => 0));
  });

  it('distinguishes routes, their edges, hosts, modules and reasons', () => {
    const coverage = coveredBy(edgeWith({ user_agent_filter: { allow: [], deny: ['bot'] } }), [
      { path: '/x', headers: { 'user-agent': 'robot' } },
    ]);
    expect(told(coverage, 'hosts')).toEqual({ 'a request is sent to shop.test': true });
    expect(told(coverage, 'routes')).toEqual({ 'route / is taken': true });
    expect(told(coverage, 'paths')).toEqual({
      'a request is for / exactly': false,
      'a request is for a path below /': true,
    });
    expect(told(coverage, 'modules')).toEqual({
      'user_agent_filter of / runs': true,
      'backend of / runs': false,
    });
    expect(told(coverage, 'rules')).toEqual({ 'deny[0] of / matches: bot': true });
    expect(pointThat(coverage, 'backend of / runs').uncovered).toEqual({
      reason: 'never_reached',
      message: 'of 1 request to / user_agent_filter stopped 1 before backend',
    });
  });

  it('includes the addresses at the bounds of each range', () => {
    const coverage = coveredBy(
      edgeWith({ ip_restriction: { ip_policy_ids: ['office'] } }, { ip_policies: POLICIES }),
      [{ ip: '192.0.2.0' }, { ip: '192.0.2.128' }, { ip: '192.0.1.255' }],
    );
    expect(told(coverage, 'addresses')).toEqual({
      '192.0.2.0 comes, the first address of 192.0.2.0/24': true,
      '192.0.2.255 comes, the last address of 192.0.2.0/24': false,
      '192.0.1.255 comes, the address before those of 192.0.2.0/24': true,
      '192.0.3.0 comes, the address after those of 192.0.2.0/24': false,
      '192.0.2.128 comes, the first address of 192.0.2.128/25': true,
      '192.0.2.255 comes, the last address of 192.0.2.128/25': false,
      '192.0.2.127 comes, the address before those of 192.0.2.128/25': false,
      '192.0.3.0 comes, the address after those of 192.0.2.128/25': false,
    });
  });

  it('includes those of an action, too', () => {
    const edge = policyEdge({ actions: [{ type: 'restrict-ips', config: { allow: ['10.0.0.0/31'] } }] });
    expect(told(coveredBy(edge, [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]), 'addresses')).toEqual({
      '10.0.0.0 comes, the first address of 10.0.0.0/31': false,
      '10.0.0.1 comes, the last address of 10.0.0.0/31': true,
      '9.255.255.255 comes, the address before those of 10.0.0.0/31': false,
      '10.0.0.2 comes, the address after those of 10.0.0.0/31': true,
    });
  });

  it('counts both outcomes of every boolean node, and what was skipped', () => {
    const edge = policyEdge({
      name: 'r',
      expressions: ["req.method == 'GET' && req.url.path.startsWith('/a')"],
      actions: [{ type: 'deny' }],
    });
    const once = coveredBy(edge, ['POST /a']);
    expect(told(once, 'outcomes')).toEqual({
      "`req.method == 'GET' && req.url.path.startsWith('/a')` is true": false,
      "`req.method == 'GET' && req.url.path.startsWith('/a')` is false": true,
      "`req.method == 'GET'` is true": false,
      "`req.method == 'GET'` is false": true,
      "`req.url.path.startsWith('/a')` is true": false,
      "`req.url.path.startsWith('/a')` is false": false,
    });
    expect(pointThat(once, "`req.url.path.startsWith('/a')` is true").uncovered).toEqual({
      reason: 'short_circuited',
      by: 'operand',
      message: "short-circuited by `req.method == 'GET'`, which was always false",
    });
    const more = coveredBy(edge, ['POST /a', 'GET /a', 'GET /b']);
    expect(Object.values(told(more, 'outcomes'))).not.toContain(false);
    expect(Object.values(told(more, 'mcdc'))).toEqual([true, true]);
    const less = coveredBy(edge, ['POST /a', 'GET /a']);
    expect(Object.values(told(less, 'mcdc'))).toEqual([true, false]);
  });

  it('sees expressions in templates of actions', () => {
    const edge = policyEdge({
      actions: [{ type: 'custom-response', config: { body: "a ${req.method == 'GET' ? 'x' : 'y'}" } }],
    });
    expect(told(coveredBy(edge, ['GET /']), 'outcomes')).toEqual({
      "`req.method == 'GET'` is true": true,
      "`req.method == 'GET'` is false": false,
    });
  });

  it('follows backends and breakers', () => {
    const covered = coveredEdge(
      edgeOf({
        backends: {
          app: { static: { address: 'localhost:3000' } },
          sorry: { http_response: { status_code: 503 } },
          never: { http_response: { status_code: 200 } },
          safe: { failover: ['app', 'sorry', 'never'] },
        },
        edges: {
          https: {
            shop: {
              hostports: ['shop.test:443'],
              routes: [
                {
                  match_type: 'path_prefix',
                  match: '/',
                  backend: { backend_id: 'safe' },
                  circuit_breaker: { volume_threshold: 1 },
                },
              ],
            },
          },
        },
      }),
    );
    const expectation = { counts: { 200: 1 } };
    runCases(covered, [{ timeline: [{ send: 'GET /', expect: expectation }] }]);
    expect(told(coverageOf(covered), 'backends')).toEqual({
      'app is tried for /': true,
      'sorry is tried for /': false,
      'never is tried for /': false,
    });
    expect(pointThat(coverageOf(covered), 'never is tried for /').uncovered?.reason).toBe('cannot_happen');
    runCases(covered, [{ upstreams: { app: 'refuse' }, request: '/', expect: { status: 503 } }]);
    expect(told(coverageOf(covered), 'backends')['sorry is tried for /']).toBe(true);
  });

  it('does not count runs for the report of a failure', () => {
    const covered = coveredEdge(
      policyEdge({ expressions: ["req.url.path == '/a'"], actions: [{ type: 'deny' }] }),
    );
    const result = runCases(covered, [{ request: 'GET /b', expect: { status: 403 } }]);
    expect(result.cases[0]!.status).toBe('failed');
    expect(result.cases[0]!.near).not.toBeNull();
    expect(coverageOf(covered).requests).toBe(1);
    expect(told(coverageOf(covered), 'outcomes')["`req.url.path == '/a'` is true"]).toBe(false);
  });
});

describe('MC/DC', () => {
  it('needs vectors that differ in one condition and in the outcome', () => {
    expect(shownConditions(['11=1', '0-=0', '10=0'], 2)).toEqual([true, true]);
    expect(shownConditions(['11=1', '0-=0'], 2)).toEqual([true, false]);
    expect(shownConditions(['11=1', '00=0'], 2)).toEqual([false, false]);
    expect(shownConditions([], 2)).toEqual([false, false]);
  });

  it('of a conjunction needs all true and each single false', () => {
    const counts = fc.integer({ min: 2, max: 6 });
    fc.assert(
      fc.property(
        counts,
        fc.array(fc.nat({ max: 6 }), { maxLength: 8 }),
        fc.boolean(),
        (count, at, isMet) => {
          const falses = at.filter((index) => index < count);
          const vectors = falses.map((index) => `${'1'.repeat(index)}0${'-'.repeat(count - index - 1)}=0`);
          const all = isMet ? [...vectors, `${'1'.repeat(count)}=1`] : vectors;
          const expected = Array.from({ length: count }, (_each, index) => isMet && falses.includes(index));
          expect(shownConditions(all, count)).toEqual(expected);
        },
      ),
      sized(200, 1),
    );
  });
});

describe('impossible points', () => {
  const impossible = (edge: Parameters<typeof coveredBy>[0]) =>
    Object.fromEntries(
      coverageOf(coveredEdge(edge))
        .points.filter(({ uncovered }) => uncovered!.reason === 'cannot_happen')
        .map(({ message, uncovered }) => [message, uncovered!.message]),
    );
  const deny = [{ type: 'deny' }];

  it('include a rule after one that always decides', () => {
    const found = impossible(policyEdge({ name: 'a', actions: deny }, { name: 'b', actions: deny }));
    expect(found['rule b applies']).toBe('rule a before it always decides');
    expect(found['deny of rule b runs']).toBe('rule a before it always decides');
  });

  it('include a rule after one that handles all of its requests, unless they change in between', () => {
    const [wide, narrow] = ['/a', '/a/b'].map((path) => ({
      name: path,
      expressions: [`req.url.path.startsWith('${path}')`],
      actions: deny,
    }));
    const rewrite = { actions: [{ type: 'url-rewrite', config: { to: '/a/b/c' } }] };
    expect(impossible(policyEdge(wide!, narrow!))['rule /a/b applies']).toMatch(/takes all of its requests/);
    expect(impossible(policyEdge(narrow!, wide!))).not.toHaveProperty(['rule /a applies']);
    expect(impossible(policyEdge(wide!, rewrite, narrow!))).not.toHaveProperty(['rule /a/b applies']);
  });

  it('include contradictions, in one expression or across several', () => {
    const found = impossible(
      policyEdge(
        { name: 'one', expressions: ["req.method == 'GET' && req.method == 'PUT'"], actions: deny },
        { name: 'two', expressions: ["req.host == 'a'", "req.host == 'b'"], actions: deny },
      ),
    );
    expect(found['rule one applies']).toMatch(/contradict each other/);
    expect(found['rule two applies']).toMatch(/req.host would have to be a and b/);
    expect(found["`req.method == 'PUT'` is true"]).toMatch(/before it is true/);
    expect(found["`req.host == 'b'` is true"]).toMatch(/contradict/);
    expect(found).not.toHaveProperty(["`req.host == 'a'` is true"]);
  });

  it('include a range that others cover, alone or together', () => {
    const rules = [
      { cidr: '10.0.0.0/24', action: 'allow' },
      { cidr: '10.0.0.0/25', action: 'deny' },
      { cidr: '10.0.0.128/25', action: 'deny' },
      { cidr: '10.0.0.7/32', action: 'deny' },
      { cidr: '10.1.0.0/24', action: 'allow' },
      { cidr: '10.1.0.0/25', action: 'deny' },
    ];
    const edge = edgeWith({ ip_restriction: { ip_policy_ids: ['p'] } }, { ip_policies: { p: { rules } } });
    const found = impossible(edge);
    expect(found['p#0 decides: allow 10.0.0.0/24']).toBe('p#1, p#2 together cover it entirely');
    expect(found).not.toHaveProperty(['p#1 decides: deny 10.0.0.0/25']);
    expect(found).not.toHaveProperty(['p#4 decides: allow 10.1.0.0/24']);
  });

  it('are not part of the denominator', () => {
    const { tallies } = coveredBy(policyEdge({ actions: deny }, { actions: deny }), ['GET /']);
    const rules = tallies.find(({ kind }) => kind === 'rules')!;
    expect(rules).toMatchObject({ covered: 1, possible: 1, impossible: 1 });
    expect(percentOf(rules)).toBe(100);
  });
});

describe('a failure', () => {
  it('shows the values of the parts of each expression', () => {
    const covered = coveredEdge(
      policyEdge({
        name: 'r',
        expressions: ["req.method == 'GET' && !(req.url.path == '/b' && hasReqHeader('x'))"],
        actions: [{ type: 'deny' }],
      }),
    );
    const [result] = runCases(covered, [{ request: 'GET /a', expect: { status: 200 } }]).cases;
    const { parts } = result!.explained!.values[0]!;
    expect(parts.slice(1)).toEqual([
      { text: "req.method == 'GET'", value: 'true' },
      { text: 'req.method', value: '"GET"' },
      { text: "!(req.url.path == '/b' && hasReqHeader('x'))", value: 'true' },
      { text: "req.url.path == '/b' && hasReqHeader('x')", value: 'false' },
      { text: "req.url.path == '/b'", value: 'false' },
      { text: 'req.url.path', value: '"/a"' },
      { text: "hasReqHeader('x')", value: 'not evaluated: `&&` was decided: this side is false' },
    ]);
    const lines = failureLines(result!);
    expect(lines).toContain('    req.url.path = "/a"');
    expect(lines).toContain('nearest: with method POST the expectations would be met');
  });

  it('of a timeline shows those of the request that failed first, not of others', () => {
    const covered = coveredEdge(
      policyEdge({
        name: 'r',
        expressions: ["req.url.path == '/b' && hasReqHeader('x')"],
        actions: [{ type: 'deny' }],
      }),
    );
    const slow = { app: { latency: '1s' } };
    const steps = [
      { send: { path: '/a', count: 3 }, upstreams: slow, expect: { status: 200 } },
      { send: { path: '/b' }, expect: { status: 403 } },
      { send: { path: '/c', count: 3 }, expect: { status: 200 } },
    ];
    const [result] = runCases(covered, [{ timeline: steps }]).cases;
    expect(result!.explained!.request).toContain('/b');
    expect(result!.explained!.values).toHaveLength(1);
    expect(failureLines(result!)).toEqual(
      expect.arrayContaining(['    req.url.path = "/b"', "    hasReqHeader('x') = false"]),
    );
  });

  it('of a connection shows them, too', () => {
    const value = JSON.stringify({
      on_tcp_connect: [
        { name: 'r', expressions: ["conn.client_ip == '192.0.2.1'"], actions: [{ type: 'deny' }] },
      ],
    });
    const backend = { backend_id: 'db' };
    const covered = coveredEdge(
      edgeOf({
        backends: { db: { static: { address: 'localhost:5432' } } },
        edges: { tcp: { pg: { hostports: ['1.tcp.test:5432'], traffic_policy: { value }, backend } } },
      }),
    );
    const connect = { to: '1.tcp.test:5432', ip: '192.0.2.2' };
    const [result] = runCases(covered, [{ connect, expect: { connection: 'denied' } }]).cases;
    expect(failureLines(result!)).toContain('    conn.client_ip = "192.0.2.2"');
  });
});
