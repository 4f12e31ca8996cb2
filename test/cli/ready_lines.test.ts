import { expect, it } from 'vitest';
import { about } from '../../src/cli/dev.ts';
import { inMilliseconds } from '../../src/cli/request_line.ts';
import { edgeOf, usable } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';

it.each([
  [0, '<1 ms'],
  [0.9, '<1 ms'],
  [1, '1 ms'],
  [2.4, '2 ms'],
  [1_500, '1500 ms'],
])('%d is printed as %s', (tookMs, told) => expect(inMilliseconds(tookMs)).toBe(told));

it.each([
  [0, '0 routes'],
  [1, '1 route'],
  [2, '2 routes'],
])('%d routes are printed as %s', (count, told) => {
  const routes = Array.from({ length: count }, (_, index) => ({
    match_type: 'path_prefix',
    match: `/${index}`,
    backend: { backend_id: 'app' },
  }));
  const value = {
    backends: { app: { http_response: { status_code: 200 } } },
    edges: { https: { shop: { hostports: ['shop.test:443'], routes } } },
  };
  const edge = edgeOf(usable(checkWholeEdge({ value })), {});
  const listening = { url: 'http://127.0.0.1:1', port: 1 } as never;
  expect(about(edge, listening).at(-1)).toBe(told);
});
