import { describe, expect, it } from 'vitest';
import { coveredEdge } from '../../src/coverage/coverage.ts';
import { edgeOf, edgeWith, runCases } from './covered.ts';

const BREAKER = { circuit_breaker: { volume_threshold: 4, error_threshold_percentage: 0.5 } };
const LONG = [
  { send: { path: '/a', count: 7, every: '10ms' } },
  { upstreams: { app: 500 }, send: { path: '/b', count: 40, every: '10ms' } },
  { advance: '1s', upstreams: { app: 200 }, send: '/c' },
  { send: '/d', expect: { status: 200 } },
  { send: '/e' },
];

describe('a failing timeline', () => {
  it('is reduced while it fails in the same way, and the result fails when run', () => {
    const covered = coveredEdge(edgeWith(BREAKER));
    const [result] = runCases(covered, [{ timeline: LONG }]).cases;
    expect(result!.status).toBe('failed');
    // Four failures trip the breaker. Requests of one instant are sent in the order of the file: /d after the last /b.
    expect(result!.shrunk).toBe(
      '- { name: "case 0", timeline: [{ upstreams: { app: 500 }, send: { path: /b, count: 4, every: "10ms" } }, { send: /d, expect: { status: 200 } }], seed: 1 }',
    );
    const timeline = [
      { upstreams: { app: 500 }, send: { path: '/b', count: 4, every: '10ms' } },
      { send: '/d', expect: { status: 200 } },
    ];
    expect(runCases(covered, [{ timeline }]).cases[0]!.mismatches).toMatchObject([
      { expected: '200', received: '503' },
    ]);
    const fewer = [{ ...timeline[0], send: { path: '/b', count: 3, every: '10ms' } }, timeline[1]];
    expect(runCases(covered, [{ timeline: fewer }]).cases[0]!.mismatches).toMatchObject([
      { received: '500' },
    ]);
  });

  it('keeps the seed with which a repetition failed', () => {
    const edge = edgeOf({
      backends: {
        a: { static: { address: 'localhost:1' } },
        b: { http_response: { status_code: 500 } },
        both: { weighted: { a: 9, b: 1 } },
      },
      edges: {
        https: {
          shop: {
            hostports: ['shop.test:443'],
            routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'both' } }],
          },
        },
      },
    });
    const timeline = [{ send: { path: '/', count: 200 }, expect: { status: 200 } }];
    const [result] = runCases(coveredEdge(edge), [{ seed: 'x', timeline }]).cases;
    expect(result!.shrunk).toMatch(/seed: x/);
    const count = Number(/count: (\d+)/.exec(result!.shrunk!)![1]);
    expect(count).toBeLessThan(60);
  });

  it('of counts is not reduced, nor one that cannot be smaller', () => {
    const covered = coveredEdge(edgeWith(BREAKER));
    const counted = [{ send: { path: '/', count: 5 }, expect: { counts: { 500: 5 } } }];
    const small = [{ send: '/', expect: { status: 500 } }];
    const { cases } = runCases(covered, [{ timeline: counted }, { timeline: small }]);
    expect(cases.map(({ status, shrunk }) => [status, shrunk])).toEqual([
      ['failed', null],
      ['failed', null],
    ]);
  });
});
