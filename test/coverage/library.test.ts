import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { coverScenario, explainWhyNot } from '../../src/index.ts';
import { sampleTexts } from '../../src/simulator/search/patterns.ts';
import { onePolicy } from '../one_route.ts';
import { IS_FULL, runs, sized } from '../random.ts';

const rule = (expressions: readonly string[], actions: readonly object[] = [{ type: 'deny' }]) => ({
  expressions,
  actions,
});
/** A case that any response passes. */
const PLAIN = { name: 'one', request: 'GET /', expect: { headers: {} } };
const edgeOf = (...rules: readonly object[]) => createEdge(onePolicy({ on_http_request: rules }));

/** Expressions, one or several of a rule, that a request can make true. */
const REACHABLE: readonly (readonly string[])[] = [
  ["req.method == 'PATCH'"],
  ["req.url.path.endsWith('.php')"],
  ["req.url.path.matches('^/v[0-9]+/(users|teams)/[a-z]{2,8}$')"],
  ["hasReqHeader('x-key') ? getReqHeader('x-key')[0] == 'k1' : false"],
  ["hasReqHeader('x-key') && getReqHeader('x-key')[0].startsWith('k')"],
  ["hasQueryParam('debug') && getQueryParam('debug')[0] == 'on'"],
  ["hasReqCookie('session')"],
  ["req.user_agent.contains('Bot')"],
  ["inCidrRange(conn.client_ip, '10.1.0.0/16')"],
  ["conn.geo.country_code in ['AQ', 'BV']"],
  ["timestamp(time.now) >= timestamp('2027-01-01T00:00:00Z')"],
  ["req.content_type == 'text/csv'"],
  ["req.method == 'DELETE'", "req.url.path.startsWith('/admin')", "hasReqHeader('x-key')"],
];

describe('the search', () => {
  it.each(REACHABLE)('reaches a rule with %j first', (...expressions) => {
    const found = explainWhyNot(edgeOf(rule(expressions)), 'GET /', 'on_http_request[0]');
    expect(found.verdict).toBe('changes');
    if (found.verdict === 'changes') expect(found.changes.length).toBeLessThanOrEqual(expressions.length + 1);
  });

  it('expects fields to be absent that the edge may set, and not those that it only reads', () => {
    const edge = edgeOf({
      expressions: ["hasReqHeader('x-read')"],
      actions: [{ type: 'add-headers', config: { headers: { 'x-set': 'a' } } }],
    });
    const { cases } = coverScenario(edge, { cases: [PLAIN] }).emit();
    const text = JSON.stringify(cases);
    expect(text).toMatch(/"x-set":"a"/);
    expect(text).toMatch(/"x-set":"absent"/);
    expect(text).not.toMatch(/"x-read":"absent"/);
  });

  it('covers a whole policy at once, with cases that pass', () => {
    const edge = edgeOf(
      ...REACHABLE.filter((_, at) => IS_FULL || at % 3 === 0).map((expressions) =>
        rule(expressions, [{ type: 'log', config: { metadata: { a: 'b' } } }]),
      ),
    );
    const facts = { 'conn.geo.country_code': 'DE' };
    const one = { name: 'one', facts, request: 'GET /', expect: { status: 200 } };
    const covered = coverScenario(edge, { cases: [one] });
    const { cases, points } = covered.emit();
    const after = coverScenario(edge, {
      cases: [one, ...cases],
    });
    expect(after.cases.filter(({ status }) => status !== 'passed')).toEqual([]);
    const open = new Set(after.points.filter(({ uncovered }) => uncovered !== null).map(({ id }) => id));
    expect(points.filter(({ id }) => open.has(id))).toEqual([]);
    expect(after.missed({ rules: 100, actions: 100 })).toEqual([]);
  });

  it.each([
    [['!(req.method == "PUT" && req.method == "GET")']],
    [["hasReqHeader('')"]],
    [["getReqHeader('a b')[0] == 'v'"]],
    [["req.method == 'G T'"]],
  ])(
    'never calls impossible what happens, nor writes a case that cannot be sent: a rule with %j',
    (expressions) => {
      const edge = edgeOf(rule(expressions));
      const { cases } = coverScenario(edge, { cases: [PLAIN] }).emit();
      const after = coverScenario(edge, { cases: [PLAIN, ...cases] });
      expect(after.cases.filter(({ status }) => status !== 'passed')).toEqual([]);
      expect(after.points.filter(({ impossible, hits }) => impossible !== null && hits > 0)).toEqual([]);
    },
  );

  it('never suggests a case that does not do it: random policies', { timeout: 600_000 }, () => {
    const atom = fc.constantFrom(
      "req.method == 'PUT'",
      "req.method == 'GET'",
      "req.url.path.startsWith('/a')",
      "req.url.path == '/a/b'",
      "hasReqHeader('x')",
      "hasQueryParam('q')",
      "hasReqCookie('c')",
    );
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        atom,
        fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => `(${one} && ${other})`),
        fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => `(${one} || ${other})`),
        tie('tree').map((inner) => `!(${inner})`),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(fc.array(tree, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
        (rules) => {
          const edge = edgeOf(...rules.map((expressions) => rule(expressions)));
          const before = coverScenario(edge, { cases: [PLAIN] });
          const { cases, points } = before.emit();
          const after = coverScenario(edge, { cases: [PLAIN, ...cases] });
          expect(after.cases.slice(1).filter(({ status }) => status !== 'passed')).toEqual([]);
          const byId = new Map(after.points.map((point) => [point.id, point]));
          for (const { id } of points) expect(byId.get(id)!.uncovered).toBeNull();
          // Points that are reported as impossible never happen in any of the cases.
          for (const point of after.points) if (point.impossible !== null) expect(point.hits).toBe(0);
        },
      ),
      { ...sized(25, 5), numRuns: runs(25, 4) },
    );
  });
});

describe('explainWhyNot', () => {
  const edge = edgeOf(rule(["req.method == 'PUT'"]), rule(["req.method == 'PUT'"]));

  it('reports what shadows, what happens already, and unknown names', () => {
    expect(explainWhyNot(edge, 'GET /', 'on_http_request[1]')).toEqual({
      verdict: 'impossible',
      message: 'rule on_http_request[0] before it takes all of its requests',
    });
    expect(explainWhyNot(edge, 'PUT /', 'traffic_policy')).toEqual({ verdict: 'already' });
    expect(() => explainWhyNot(edge, 'GET /', 'on_http_request[7]')).toThrow(/did you mean/);
  });

  it('admits that it has not found anything', () => {
    const odd = edgeOf(rule(['size(req.url.path) == 4321']));
    expect(explainWhyNot(odd, 'GET /', 'on_http_request[0]')).toMatchObject({ verdict: 'not_found' });
  });
});

describe('a sample of a pattern', () => {
  it.each([
    ['(?i)bot|crawler', 'bot'],
    [String.raw`^curl/[0-7]\.\d{2}$`, 'curl/0.11'],
    ['a(?:b|c)+d?', 'abd'],
    ['[^/]+/x', 'x/x'],
  ])('%s → %s', (pattern, sample) => {
    expect(sampleTexts(pattern)).toContain(sample);
    expect(new RegExp(pattern.replace('(?i)', ''), 'u').test(sample)).toBe(true);
  });
});
