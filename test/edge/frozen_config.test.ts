import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { validationCache } from '../../src/edge/document/validation_cache.ts';
import { loadConfig } from '../../src/project_files/load_config.ts';
import { callsIn } from '../calls.ts';
import { unfrozen } from '../unfrozen.ts';

const POLICY = (path: string) =>
  JSON.stringify({
    on_http_request: [
      {
        expressions: [`req.url.path == '${path}'`],
        actions: [{ type: 'deny', config: { status_code: 403 } }],
      },
    ],
  });

const edge = (...paths: readonly string[]) => ({
  facts: [{ cidr: '192.0.2.0/24', geo: { location: { country_code: 'DE' } } }],
  ip_policies: { office: { rules: [{ cidr: '192.0.2.0/24', action: 'allow' }] } },
  backends: { app: { http_response: { status_code: 200 } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: paths.map((path) => ({
          match_type: 'path_prefix',
          match: path,
          backend: { backend_id: 'app' },
          request_headers: { add: { 'x-a': '1' } },
          traffic_policy: { value: POLICY(path) },
        })),
      },
    },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'accepted-'));
afterAll(() => rmSync(folder, { recursive: true }));

function expectFrozen(config: object | null): void {
  expect(config).not.toBeNull();
  expect(unfrozen(config)).toEqual([]);
  const { edges } = config as { edges: { https: { shop: { routes: { match: string }[] } } } };
  expect(() => edges.https.shop.routes.push({ match: '/x' })).toThrow(TypeError);
  expect(() => (edges.https.shop.routes[0]!.match = '/x')).toThrow(TypeError);
}

describe('an accepted configuration is deeply frozen', () => {
  it('by createEdge and swap, which do not change the caller’s object', () => {
    const given = edge('/a', '/b');
    const running = createEdge(given);
    expectFrozen(running.runtime.current().config);
    expectFrozen(running.config);
    expect(unfrozen(given)).toContain('/facts/0/geo/location');
    running.swap(edge('/b', '/c'));
    expectFrozen(running.runtime.current().config);
    given.edges.https.shop.routes[0]!.match = '/z';
    given.facts[0]!.geo.location.country_code = 'FR';
    expect(running.decide({ url: 'https://shop.test/c' }).status).toBe(403);
  });

  it('including the parts of the previous one, as the management API checks it', () => {
    const cache = validationCache();
    const { https } = edge('/a', '/b').edges;
    const value = { ...edge(), edges: { https } };
    const first = checkWholeEdge({ value }, { cache }).config;
    expectFrozen(first);
    const [kept] = https.shop.routes;
    const changed = { shop: { ...https.shop, routes: [kept, edge('/c').edges.https.shop.routes[0]] } };
    const second = checkWholeEdge({ value: { ...value, edges: { https: changed } } }, { cache }).config;
    expectFrozen(second);
    expect(second!.edges.https['shop']!.routes[0]).toBe(first!.edges.https['shop']!.routes[0]);
  });

  it.each(['edge.json', 'edge.mjs'])('from the file %s, whenever it is loaded', async (name) => {
    const path = join(folder, name);
    const text = JSON.stringify(edge('/a'));
    writeFileSync(path, name.endsWith('.mjs') ? `export default ${text};` : text);
    expectFrozen((await loadConfig(path)).config);
    expectFrozen((await loadConfig(path)).config);
  });
});

describe('a policy is parsed once', () => {
  const reads = (work: () => void) => callsIn('src/config_file/read.ts', work).get('plainReading') ?? 0;

  it('from check to compiled edge, and for each part that a swap changes', () => {
    let running: ReturnType<typeof createEdge> | undefined;
    expect(reads(() => (running = createEdge(edge('/a', '/b', '/c'))))).toBe(3);
    expect(reads(() => running!.swap(edge('/a', '/b')))).toBe(2);
    expect(running!.decide({ url: 'https://shop.test/b' }).status).toBe(403);
  });

  it('once more when an accepted configuration is checked again', () => {
    const { config } = checkWholeEdge({ value: edge('/a') });
    expect(reads(() => createEdge(config))).toBe(1);
  });
});
