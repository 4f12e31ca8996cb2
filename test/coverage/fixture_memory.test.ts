import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { edgeFixture, fixtureParts } from '../../src/coverage/edge_fixture.ts';
import { ResettableEdge } from '../../src/coverage/resettable_edge.ts';
import { createEdge } from '../../src/edgeproof.ts';

const ROUTES = 12;
const POLICY = JSON.stringify({
  on_http_request: [{ expressions: ["req.method == 'POST'"], actions: [{ type: 'deny' }] }],
});

test('parts that configurations share keep none of the edges that were compiled with them', () => {
  const { config } = createEdge({
    backends: { app: { static: { address: '127.0.0.1:3000' } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: Array.from({ length: ROUTES }, (_, at) => ({
            match_type: 'path_prefix',
            match: `/${at}`,
            traffic_policy: { value: POLICY },
            backend: { backend_id: 'app' },
          })),
        },
      },
    },
  });
  const parts = fixtureParts();
  const compiled = (routes: (typeof shop)['routes']): void => {
    const edges = { ...config.edges, https: { shop: { ...shop, routes } } };
    edgeFixture({ ...config, edges }, () => null, 'decided', null, null, parts).fresh();
  };
  const shop = config.edges.https['shop']!;
  const before = queryObjects(ResettableEdge, { format: 'count' });
  // The routes after the one that is missing get other places, so they are compiled again, and once more by the next.
  for (let missing = 0; missing < ROUTES; missing++) {
    compiled(shop.routes.toSpliced(missing, 1));
    compiled(shop.routes);
  }
  expect(queryObjects(ResettableEdge, { format: 'count' })).toBeLessThanOrEqual(before + 1);
});
