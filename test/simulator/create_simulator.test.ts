import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { configAround } from '../filters/modules/edge_around.ts';

const BREAKER = {
  rolling_window: 10,
  num_buckets: 10,
  volume_threshold: 2,
  error_threshold_percentage: 0.5,
  tripped_duration: 5,
};
const edge = createEdge(
  configAround('circuit_breaker', BREAKER, { app: '127.0.0.1:1', next: '127.0.0.1:2' }),
);

/** The events of fifty concurrent requests. */
function run(seed: number): string {
  const simulator = createSimulator(edge, { seed });
  simulator.upstream('app', { latency: { from: '1ms', to: '90ms' } });
  simulator.sendMany({ path: '/', headers: { 'user-agent': 'a' } }, 50, '10ms');
  return JSON.stringify(simulator.events());
}

describe('createSimulator', () => {
  it('sends, scripts upstreams and advances time', () => {
    const simulator = createSimulator(edge, { seed: 1, clock: '2026-01-01T00:00:00Z' });
    simulator.upstream('app', { status: 200, body: 'hello', latency: '5ms', headers: { 'x-a': 'b' } });
    const first = simulator.send('GET /x?y=1');
    expect(first).toMatchObject({ status: 200, text: 'hello', backend: 'app', durationMs: 5 });
    expect(first.header('X-A')).toBe('b');
    expect(first.upstream?.request.target).toBe('/x?y=1');
    expect(simulator.nowMs()).toBe(Date.UTC(2026, 0, 1) + 5);
    simulator.upstream('app', 500);
    expect(simulator.sendMany('/x', 3, '1s').map(({ status }) => status)).toEqual([500, 503, 503]);
    simulator.advance('6s');
    simulator.upstream('app', 200);
    const probe = simulator.send('/x');
    expect([probe.status, probe.event.object.circuit_breaker.decision]).toEqual([200, 'allow_while_open']);
    expect(simulator.events()).toHaveLength(5);
  });

  it('plays faults: hang, refuse, reset, half a body', () => {
    const simulator = createSimulator(edge);
    const statuses = (['hang', 'refuse', 'reset', 'invalid'] as const).map((fault) => {
      simulator.upstream('app', fault);
      simulator.advance('1h');
      return [simulator.send('/').status, simulator.send('/').decidedBy.code];
    });
    expect(statuses).toMatchInlineSnapshot(`
      [
        [
          504,
          "upstream.timeout",
        ],
        [
          502,
          "upstream.connect",
        ],
        [
          502,
          "circuit_breaker.open",
        ],
        [
          502,
          "circuit_breaker.open",
        ],
      ]
    `);
    simulator.advance('1h');
    simulator.upstream('app', { status: 200, body: '0123456789', fault: 'half' });
    const half = simulator.send('/');
    expect([half.text, half.event.object.http.response.body_length]).toEqual(['01234', 5]);
  });

  it('gives the same events, byte for byte, for the same seed', () => {
    expect(run(7)).toBe(run(7));
    expect(run(7)).not.toBe(run(8));
  });

  it('refuses invalid requests and scripts', () => {
    const simulator = createSimulator(edge);
    expect(() => simulator.upstream('ap', 200)).toThrow(/did you mean 'app'/);
    expect(() => simulator.upstream('app', 'hung')).toThrow(/hang/);
    expect(() => simulator.send({ headers: { 'a b': 'c' } })).toThrow(TypeError);
    expect(() => simulator.advance('soon')).toThrow(/31s/);
    expect(() => createSimulator(edge, { clock: 'now' })).toThrow(/2026/);
  });
});
