import { expect, test } from 'vitest';
import { keptCoverage, scenarioCoverage } from '../../../src/inspector/decide/coverage.ts';
import { traffic } from './traffic.ts';

const EDGE = `backends:
  app: { static: { address: 'UPSTREAM' } }
edges:
  https:
    shop:
      hostports: ['127.0.0.1:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
        - match_type: path_prefix
          match: /admin
          backend: { backend_id: app }
          traffic_policy:
            on_http_request:
              - expressions: ["req.method == 'POST'"]
                actions: [{ type: deny }]
`;
const SCENARIO = `edge: edge.yaml
cases:
  - { name: admin, request: https://127.0.0.1/admin, expect: { status: 200 } }
`;

test('what kept exchanges and the cases of a scenario file have reached', async () => {
  const files = { 'edge.yaml': EDGE, 'edge.scenario.yaml': SCENARIO };
  const {
    current,
    circumstances,
    kept: requests,
    folder,
  } = await traffic(files, [{ request: 'POST /admin' }]);
  const routes = ({ points }: Awaited<ReturnType<typeof scenarioCoverage>>) =>
    points.filter(({ kind }) => kind === 'routes').map(({ state, place }) => [state, place?.line]);
  const rules = ({ points }: Awaited<ReturnType<typeof scenarioCoverage>>) =>
    points.filter(({ kind }) => kind === 'rules').map(({ state }) => state);
  const kept = await keptCoverage(current, circumstances, requests);
  expect(routes(kept)).toEqual([
    ['missed', 8],
    ['hit', 11],
  ]);
  expect(rules(kept)).toContain('hit');
  const run = await scenarioCoverage(`${folder}/edge.scenario.yaml`);
  expect(run.diagnostics).toEqual([]);
  expect(routes(run)).toEqual([
    ['missed', 8],
    ['hit', 11],
  ]);
  expect(rules(run)).toContain('missed');
  expect(run.percent).toBeGreaterThan(0);
  expect(run.percent).toBeLessThan(100);
});
