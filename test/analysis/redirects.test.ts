import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { oneRoute } from '../one_route.ts';

function verdictOf(config: object, where: string, before: readonly object[] = []): string {
  const rules = [...before, { actions: [{ type: 'redirect', config }] }];
  const value = JSON.stringify({ on_http_request: rules });
  const edge = createEdge(oneRoute({ traffic_policy: { value } })).config;
  return prove(edge, { name: 'redirected', where, never: { end: 'forwarded' } }).verdict;
}

const OLD = "req.url.path.startsWith('/old/')";

test.each([
  [{ from: '/old/', to: '/new/' }, OLD, 'PROVED'],
  // Redirects of a text to itself change nothing.
  [{ from: '/old/', to: '/old/' }, OLD, 'REFUTED'],
  [{ from: '/old/', to: '/new/' }, "req.url.path.startsWith('/old')", 'REFUTED'],
  [{ from: '^/old/', to: '/new/' }, OLD, 'REFUTED'],
  [{ to: 'https://new.test/' }, 'true', 'PROVED'],
  [{ to: 'https://shop.test/start' }, "req.url.path != '/start'", 'PROVED'],
  [{ to: 'https://shop.test/start' }, "req.url.path == '/start'", 'REFUTED'],
])('%o', (config, where, expected) => {
  expect(verdictOf(config, where)).toBe(expected);
});

test('the path is the one that an earlier rewrite has made', () => {
  const rewrite = { actions: [{ type: 'url-rewrite', config: { from: '/old/', to: '/other/' } }] };
  expect(verdictOf({ from: '/old/', to: '/new/' }, OLD, [rewrite])).toBe('REFUTED');
});
