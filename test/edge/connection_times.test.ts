import { describe, expect, it } from 'vitest';
import { type EdgeConfigInput, createEdge, createSimulator } from '../../src/index.ts';

const START_MS = Date.UTC(2001, 1, 3, 4, 5, 6);
const START = '2001-02-03T04:05:06.000Z';
const LATER = '2001-02-03T05:05:06.000Z';

/** Responds with the times that expressions see. */
const POLICY = `
on_http_request:
  - actions:
      - { type: custom-response, config: { status_code: 200, body: "\${string(conn.ts.start)} \${string(time.now)}" } }
`;
const CONFIG: EdgeConfigInput = {
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', traffic_policy: { value: POLICY } }],
      },
    },
  },
};

/** Every time in a text, as an instant. */
function timesIn(text: string): string[] {
  const found = text.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? [];
  return found.map((time) => new Date(time).toISOString());
}

describe('a connection without a socket is opened by the clock of its edge', () => {
  it('in handle, decide and explain', async () => {
    let nowMs = START_MS;
    const edge = createEdge(CONFIG, { clock: () => nowMs });
    const request = { url: 'https://shop.test/' };
    for (const [atMs, time] of [
      [START_MS, START],
      [START_MS + 3_600_000, LATER],
    ] as const) {
      nowMs = atMs;
      const { response, event } = await edge.handle(new Request(request.url));
      const times = timesIn(await response.text()).concat(timesIn(JSON.stringify(event)));
      expect(times.length).toBeGreaterThanOrEqual(4);
      expect(new Set(times)).toEqual(new Set([time]));
      expect(new Set(timesIn(JSON.stringify(edge.decide(request).event)))).toEqual(new Set([time]));
      const explanation = edge.explain(request);
      expect('request' in explanation && explanation.startMs).toBe(atMs);
    }
  });

  it('in a simulator, whose clock advances between requests', () => {
    const simulator = createSimulator(createEdge(CONFIG, { clock: () => 0 }), { clock: START });
    const timesOf = (): Set<string> => {
      const { text, event } = simulator.send('GET https://shop.test/');
      return new Set(timesIn(text + JSON.stringify(event)));
    };
    expect(timesOf()).toEqual(new Set([START]));
    simulator.advance('1h');
    expect(timesOf()).toEqual(new Set([LATER]));
  });
});
