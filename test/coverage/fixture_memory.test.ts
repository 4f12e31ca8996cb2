import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { edgeFixture, fixtureParts } from '../../src/coverage/edge_fixture.ts';
import { ResettableEdge } from '../../src/coverage/resettable_edge.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { traceOf } from '../../src/engine/trace.ts';
import { SimulatedAgents } from '../../src/simulator/agents.ts';
import { plainDraft } from '../../src/simulator/search/draft.ts';
import { draftRunner } from '../../src/simulator/search/run_draft.ts';

const ROUTES = 12;
const POLICY = JSON.stringify({
  on_http_request: [{ expressions: ["req.method == 'POST'"], actions: [{ type: 'deny' }] }],
});

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

test('parts that configurations share keep none of the edges that were compiled with them', () => {
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

test('routes keep nothing of the last request that was traced on them', () => {
  const edge = edgeFixture(config, () => null);
  const run = draftRunner(edge);
  const send = (at: number): void => {
    const [simulated] = run({ ...plainDraft(config, `/${at}`), method: 'POST' }).simulatedRequests;
    expect(traceOf(simulated!.exchange).some(({ inner }) => inner !== undefined)).toBe(true);
  };
  const before = queryObjects(SimulatedAgents, { format: 'count' });
  for (let at = 0; at < ROUTES; at++) send(at);
  expect(queryObjects(SimulatedAgents, { format: 'count' })).toBeLessThanOrEqual(before + 1);
});

test('a released edge is compiled again', () => {
  const edge = edgeFixture(config, () => null);
  const first = edge.fresh();
  expect(edge.fresh()).toBe(first);
  edge.release();
  expect(edge.fresh()).not.toBe(first);
});
