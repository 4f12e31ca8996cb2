import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Edge, HttpRequestCompleteEvent } from '../../src/index.ts';
import { LONG_TEXT, type Seen, edgeBefore } from './edge.ts';

export interface Served {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * What holds for every framework. The application answers `/v2/…`, `/swap` and `/echo` with what it saw as JSON,
 * `/long` with a long text, `/boom` with 500, and nothing else.
 */
export function behavesBehindAnEdge(serve: (edge: Edge) => Promise<Served>): void {
  const events: HttpRequestCompleteEvent[] = [];
  let served: Served;
  beforeAll(async () => {
    served = await serve(edgeBefore(events));
  });
  afterAll(() => served.close());
  const last = () => events.at(-1)!.object;
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${served.url}${path}`, { redirect: 'manual', ...init });

  it('never sees requests that the edge stops', async () => {
    const response = await ask('/admin/x');
    expect(response.status).toBe(403);
    expect(response.headers.get('x-app')).toBeNull();
    expect(response.headers.get('x-powered-by')).toBeNull();
    const moved = await ask('/old');
    expect([moved.status, moved.headers.get('location')]).toEqual([302, expect.stringContaining('/new')]);
  });

  it('sees the request as the edge has edited it', async () => {
    const response = await ask('/v1/items?page=2', { headers: { 'x-secret': 'hush' } });
    const seen = (await response.json()) as Seen;
    expect(seen).toMatchObject({ url: '/v2/items?page=2', edge: 'was here', secret: null });
    expect(response.headers.get('x-app')).toBe('yes');
    expect(response.headers.get('x-seen')).toBe('200');
    expect(last().http.request.url.path).toBe('/v1/items');
  });

  it('reads a body that a policy has read and changed before it', async () => {
    const text = `one cat, ${'x'.repeat(100_000)}, two cats`;
    const response = await ask('/swap', {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'text/plain' },
    });
    const seen = (await response.json()) as Seen;
    expect(seen.body).toBe(text.replaceAll('cat', 'tiger'));
  });

  it('reads an unread body', async () => {
    const response = await ask('/echo', {
      method: 'POST',
      body: 'as it is',
      headers: { 'content-type': 'text/plain' },
    });
    expect(((await response.json()) as Seen).body).toBe('as it is');
  });

  it('has its responses compressed, with their sizes in the event', async () => {
    const response = await ask('/long', { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.text()).toBe(LONG_TEXT);
    expect(last().compression.bytes_saved).toBeGreaterThan(LONG_TEXT.length / 2);
  });

  it('keeps its own errors', async () => {
    const response = await ask('/boom');
    expect([response.status, response.headers.get('x-seen')]).toEqual([500, '500']);
  });

  it('answers HEAD without a body', async () => {
    const response = await ask('/long', { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
}
