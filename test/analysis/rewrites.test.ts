import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { observe } from '../../src/analysis/witness.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { ended } from './classify.ts';
import { chanceOf } from './random_edges.ts';

const rewriteOf = (from: string, to: string) => ({
  actions: [{ type: 'url-rewrite', config: { from, to } }],
});
const denied = (expression: string) => ({ expressions: [expression], actions: [{ type: 'deny' }] });
const edgeOf = (...rules: readonly object[]) =>
  createEdge(oneRoute({ traffic_policy: { value: JSON.stringify({ on_http_request: rules }) } })).config;

/** A rewrite, what is denied behind it, the requests that a property is about, and whether none gets through. */
test.each([
  ['/v1/', '/api/v1/', "req.url.path.startsWith('/api/')", "req.url.path.startsWith('/v1/')", 'PROVED'],
  ['/v1/', '/api/v1/', "req.url.path.startsWith('/v1/')", "req.url.path.startsWith('/v1/')", 'REFUTED'],
  ['/old/(.*)', '/new/$1', "req.url.path == '/new/a'", "req.url.path == '/old/a'", 'PROVED'],
  ['/old/(.*)', '/new/$1', "req.url.path.contains('/new/')", "req.url.path.contains('/old/')", 'PROVED'],
  ['/old/', '/new/', "req.method == 'PUT'", "req.url.path == '/old/a' && req.method == 'PUT'", 'PROVED'],
  ['/old/', '/new/', "hasReqHeader('x-a')", "hasReqHeader('x-a')", 'PROVED'],
  ['/old/', '/new/', "hasQueryParam('debug')", "hasQueryParam('debug')", 'PROVED'],
  ['/old/', '/new/', "getQueryParam('q') == ['1']", "getQueryParam('q') == ['1']", 'PROVED'],
  ['/old/(.*)', '/new/$1', "'1' in getQueryParam('q')", "'1' in getQueryParam('q')", 'UNDECIDED'],
  ['/old/', '/new/', "getQueryParam('q') == ['/old/']", "getQueryParam('q') == ['/old/']", 'REFUTED'],
  // A name may become another.
  ['/old/', 'de', "hasQueryParam('debug')", "hasQueryParam('debug')", 'UNDECIDED'],
  // What is made is not as it was written.
  ['/old', '/', "req.url.path == '/a'", "req.url.path == '/old/a'", 'UNDECIDED'],
])('%s → %s, denied %s, where %s: %s', (from, to, expression, where, expected) => {
  const config = edgeOf(rewriteOf(from, to), denied(expression));
  expect(prove(config, { name: 'denied', where, never: { end: 'forwarded' } }).verdict).toBe(expected);
});

test('verdicts about the path behind rewrites agree with the engine', () => {
  let seed = 7;
  const pick = <T>(list: readonly T[]): T => list[(seed = (seed * 48_271) % 2_147_483_647) % list.length]!;
  const parts = ['/a', '/b/', '/a/b', '/', '/v1/', 'x', '/a.b', '/ab/'];
  const targets = ['/a', '/b/', '/c/a', '/', '/new/', '/a/a/', '/x.'];
  let compared = 0;
  for (let round = 0; round < runs(600, 60); round++) {
    const rewrites = Array.from({ length: 1 + (round % 2) }, () => {
      const isRest = pick([true, false]);
      const from = pick(['/a', '/b/', '/a/b', '/v1/', String.raw`/a\.b`, '/ab/']);
      return rewriteOf(isRest ? `${from}(.*)` : from, `${pick(targets)}${isRest ? '$1' : ''}`);
    });
    const target = pick(targets);
    const condition = pick([
      `req.url.path == '${target}'`,
      `req.url.path.startsWith('${target}')`,
      `req.url.path.endsWith('${target}')`,
    ]);
    const config = edgeOf(...rewrites, {
      expressions: [condition],
      actions: [{ type: 'custom-response', config: { status_code: 418 } }],
    });
    const model = new Model(config, new Analysis());
    const path = `/${pick(parts)}${pick(parts)}${pick(parts)}`.replaceAll(/\/+/g, '/');
    const query = pick(['', '?next=/a/b/v1/']);
    const { verdict } = prove(config, {
      name: 'taken',
      where: `req.url.path == '${path}'`,
      never: { end: 'forwarded' },
    });
    const url = `https://shop.test${path}${query}`;
    const observed = observe(model, { method: 'GET', url, headers: [], clientIp: '192.0.2.1' })!;
    if (verdict === 'UNDECIDED') continue;
    compared++;
    expect([rewrites, condition, path, observed.status === 418 || observed.status === 500]).toEqual([
      rewrites,
      condition,
      path,
      verdict === 'PROVED',
    ]);
  }
  expect(compared).toBeGreaterThan(50);
});

test('verdicts about parameters behind rewrites agree with the engine', () => {
  const chance = chanceOf(seeded(31));
  const values = ['1', '/a/', '/a/x', '%2Fa%2F', 'x/a/', '%zz', '', '/b/', '1&q=/a/', '1&q=2', '"|', '+'];
  const conditions = [
    "hasQueryParam('q')",
    "getQueryParam('q')[0] == '1'",
    "'/b/' in getQueryParam('q')",
    "getQueryParam('q').all(v, v.startsWith('/'))",
    "size(getQueryParam('q')) > 1",
    "getQueryParam('q').exists(v, v.contains('%'))",
    "req.url.query_params['q'][0].endsWith('/')",
  ];
  let compared = 0;
  for (let round = 0; round < runs(2_000, 60); round++) {
    const rewrite = chance.pick([
      rewriteOf('/a/', '/b/'),
      rewriteOf('/a/(.*)', '/b/$1'),
      rewriteOf('/b/', '/'),
    ]);
    const condition = chance.pick(conditions);
    const taken = {
      expressions: [condition],
      actions: [{ type: 'custom-response', config: { status_code: 418 } }],
    };
    const config = edgeOf(rewrite, taken);
    const model = new Model(config, new Analysis());
    const url = `https://shop.test${chance.pick(['/a/x', '/', '/b/'])}?${chance.pick(['q', 'Q', 'x'])}=${chance.pick(values)}`;
    const outcome = ended(model, { method: 'GET', url, headers: [], clientIp: '192.0.2.1' });
    if (outcome === null || outcome.by === 'url-rewrite') continue;
    const observed = observe(model, { method: 'GET', url, headers: [], clientIp: '192.0.2.1' })!;
    compared++;
    const engine = observed.explanation.decidedBy.verdict === 'stop' ? 'stopped' : 'forwarded';
    const expected = outcome.end === 'forwarded' ? 'forwarded' : 'stopped';
    expect([rewrite, condition, url, engine]).toEqual([rewrite, condition, url, expected]);
  }
  expect(compared).toBeGreaterThan(IS_FULL ? 100 : 50);
});
