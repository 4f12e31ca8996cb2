import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Edge, createEdge } from '../../src/edgeproof.ts';
import type { Listening } from '../../src/listening.ts';
import { addedUp, createMetrics } from '../../src/server/admin_metrics.ts';
import { seeded } from '../random.ts';
import { readOpenMetrics } from './open_metrics.ts';

let pending: ServerResponse | null = null;
const upstream = createServer((request, response) => {
  if (request.url === '/slow') pending = response;
  else response.writeHead(request.url === '/bad' ? 500 : 200).end('hello');
});

describe('the admin listener', () => {
  let edge: Edge;
  let listening: Listening;
  let admin: string;

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const backend = { backend_id: 'app' };
    edge = createEdge(
      {
        backends: {
          app: { static: { address: `127.0.0.1:${port}` } },
          gone: { static: { address: '127.0.0.1:1' } },
        },
        edges: {
          https: {
            a: {
              hostports: ['a.test:443'],
              routes: [
                {
                  match_type: 'path_prefix',
                  match: '/"quoted',
                  user_agent_filter: { deny: ['(?i)bot'] },
                  backend,
                },
                { match_type: 'path_prefix', match: '/gone', backend: { backend_id: 'gone' } },
                { match_type: 'path_prefix', match: '/', backend },
              ],
            },
          },
        },
      },
      { adoptHosts: 'any' },
    );
    listening = await edge.listen({ admin: { port: 0 } });
    admin = `http://127.0.0.1:${listening.adminPort}`;
  });

  afterAll(() => {
    upstream.closeAllConnections();
    upstream.close();
  });

  it('counts by route, decision, backend and status class, in valid OpenMetrics', async () => {
    const { url } = listening;
    const faultsBefore = readOpenMetrics(await (await fetch(`${admin}/metrics`)).text()).get(
      'edgeproof_contained_faults',
    )!.samples;
    for (let at = 0; at < 5; at++) await (await fetch(`${url}/x`)).text();
    await (await fetch(`${url}/bad`)).text();
    await (await fetch(`${url}/gone`)).text();
    await (await fetch(`${url}/%22quoted`, { headers: { 'user-agent': 'a bot' } })).text();
    const response = await fetch(`${admin}/metrics`);
    expect(response.headers.get('content-type')).toContain('application/openmetrics-text; version=1.0.0');
    const families = readOpenMetrics(await response.text());
    const total = (name: string, part: string): number =>
      [...families.get(name)!.samples]
        .filter(([key]) => key.includes(part))
        .reduce((sum, [, n]) => sum + n, 0);
    expect(total('edgeproof_requests', 'status="2xx"')).toBe(5);
    expect(total('edgeproof_requests', 'status="5xx"')).toBe(2);
    expect(total('edgeproof_module_decisions', 'code="user_agent_filter.denied"')).toBe(1);
    expect(total('edgeproof_backend_attempts', 'backend="gone",outcome="upstream.connect"')).toBe(1);
    expect(total('edgeproof_backend_attempts', 'backend="app"')).toBe(6);
    expect(total('edgeproof_request_duration_seconds', '_count')).toBe(8);
    // The delay of the event loop and contained faults belong to the process that listens.
    expect(families.get('edgeproof_contained_faults')!.samples).toEqual(faultsBefore);
    families.delete('edgeproof_contained_faults');
    for (const name of families.keys()) {
      if (!name.startsWith('edgeproof_event_loop_delay')) continue;
      expect([...families.get(name)!.samples.values()].every((value) => value >= 0)).toBe(true);
      families.delete(name);
    }
    expect(readOpenMetrics(edge.metrics())).toEqual(families);
  });

  it('counts decisions that differ from request to request, also after a new configuration', async () => {
    const decided = (): Map<string, number> =>
      readOpenMetrics(edge.metrics()).get('edgeproof_module_decisions')!.samples;
    const before = decided();
    const random = seeded(11);
    const denied = Array.from({ length: 40 }, () => random() < 0.5);
    for (const [at, isDenied] of denied.entries()) {
      if (at === 20) edge.swap(structuredClone(edge.config));
      const agent = isDenied ? 'a bot' : 'a person';
      await (await fetch(`${listening.url}/%22quoted`, { headers: { 'user-agent': agent } })).text();
    }
    const added = [...decided()]
      .filter(([key]) => key.includes('module="user_agent_filter"'))
      .map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const);
    const deniedNow = added.filter(([key]) => key.includes('code="user_agent_filter.denied"'));
    expect(deniedNow.map(([, count]) => count)).toEqual([denied.filter(Boolean).length]);
    expect(added.reduce((sum, [, count]) => sum + count, 0)).toBe(denied.length);
  });

  it('shows a delayed event loop', async () => {
    const held = 300;
    for (const until = performance.now() + held; performance.now() < until;);
    const families = async () => readOpenMetrics(await (await fetch(`${admin}/metrics`)).text());
    const longest = async () =>
      [...(await families()).get('edgeproof_event_loop_delay_max_seconds')!.samples.values()][0];
    await expect.poll(longest).toBeGreaterThan((held - 50) / 1_000);
    const { samples } = (await families()).get('edgeproof_event_loop_delay_seconds')!;
    expect(samples.get('edgeproof_event_loop_delay_seconds_sum{}')).toBeGreaterThan((held - 50) / 1_000);
  });

  it('has no series for values that clients choose', async () => {
    const before = edge.metrics().split('\n').length;
    for (let at = 0; at < 50; at++) await (await fetch(`${listening.url}/unknown/${at}?q=${at}`)).text();
    expect(edge.metrics().split('\n').length).toBe(before);
  });

  it('adds counts of several processes', async () => {
    const empty = createMetrics().families();
    expect(addedUp([empty, empty])).toEqual(empty);
    const some = [{ name: 'a', type: 'counter', help: 'b', samples: { _total: 2 } }] as const;
    expect(addedUp([some, some])[0]!.samples).toEqual({ _total: 4 });
  });

  it('reports health, and refuses unknown paths', async () => {
    const status = async (path: string, init?: RequestInit): Promise<number> =>
      (await fetch(admin + path, init)).status;
    expect(await status('/healthz')).toBe(200);
    expect(await status('/readyz')).toBe(200);
    expect(await status('/else')).toBe(404);
    expect(await status('/metrics', { method: 'POST' })).toBe(405);
  });

  it('is not ready while it drains, but healthy', async () => {
    const answered = fetch(`${listening.url}/slow`);
    await expect.poll(() => pending !== null).toBe(true);
    const closed = listening.close(5_000);
    expect((await fetch(`${admin}/readyz`)).status).toBe(503);
    expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    pending!.end('done');
    expect(await (await answered).text()).toBe('done');
    expect(await closed).toEqual({ cut: 0 });
    await expect(fetch(`${admin}/healthz`)).rejects.toThrow();
  });
});
