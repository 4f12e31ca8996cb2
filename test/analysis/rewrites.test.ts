import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { observe } from '../../src/analysis/witness.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';

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
  for (let round = 0; round < 120; round++) {
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
