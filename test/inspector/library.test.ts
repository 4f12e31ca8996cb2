import { expect, onTestFinished, test } from 'vitest';
import { createEdge, defineEdge } from '../../src/index.ts';
import type { Hello, SearchAnswer } from '../../src/inspector/wire.ts';
import type { Overview } from '../../src/inspector/wire_overview.ts';
import type { ExchangeDetail } from '../../src/inspector/wire_detail.ts';
import { plain } from './inspected.ts';

const value = JSON.stringify({
  on_http_request: [{ expressions: ["req.url.path == '/no'"], actions: [{ type: 'deny' }] }],
});
const CONFIG = defineEdge({
  backends: { app: { http_response: { status_code: 200, body: 'fine' } } },
  edges: {
    https: {
      main: {
        hostports: ['app.test:443'],
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            backend: { backend_id: 'app' },
            traffic_policy: { value },
          },
        ],
      },
    },
  },
});
const HOST = ['host', 'app.test'];

/** The data of an inspector, with the token of its URL. */
function dataAt(inspectorUrl: string) {
  const { origin, hash } = new URL(inspectorUrl);
  const headers = {
    authorization: `Bearer ${hash.slice('#token='.length)}`,
    'content-type': 'application/json',
  };
  return async <Value>(path: string, body?: object): Promise<Value> => {
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return (await (await fetch(`${origin}/api/${path}`, { headers, ...post })).json()) as Value;
  };
}

test('an inspector has the clock of its edge', async () => {
  const nowMs = 1_700_000_000_000;
  const edge = createEdge(CONFIG, { clock: () => nowMs });
  const listening = await edge.listen({ inspector: { port: 0 } });
  onTestFinished(() => void listening.close(0));
  const data = dataAt(listening.inspectorUrl!);
  await plain(listening.port, '/', { headers: HOST });
  expect(await data<Hello>('hello')).toMatchObject({ startedMs: nowMs, nowMs });
  expect(await data<Overview>('overview')).toMatchObject({ nowMs, revisions: [{ atMs: nowMs }] });
});

test('listen opens an inspector whose URL it returns; it sees traffic, and ends with the listeners', async () => {
  const edge = createEdge(CONFIG);
  const listening = await edge.listen({ inspector: { port: 0, errorPages: true } });
  onTestFinished(() => void listening.close(0));
  expect(listening.inspectorUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=\w{40}$/);
  const data = dataAt(listening.inspectorUrl!);
  expect(await data<Hello>('hello')).toMatchObject({
    verb: 'library',
    edgeUrl: listening.url,
    can: { resend: true, files: false, draft: false },
  });
  expect((await plain(listening.port, '/', { headers: HOST })).text).toBe('fine');
  const refused = await plain(listening.port, '/no', { headers: HOST });
  expect(refused.headers['edgeproof-reason']).toContain('traffic_policy.denied');
  const { rows } = await data<SearchAnswer>('search', {});
  expect(rows.map((row) => [row.kind === 'exchange' && row.target, row.verdict])).toEqual([
    ['/no', 'stop'],
    ['/', 'pass'],
  ]);
  const { explanation } = await data<ExchangeDetail>(`exchanges/${rows[0]!.seq}`);
  // Decided again: with the values of conditions.
  expect(JSON.stringify(explanation)).toContain("req.url.path == '/no'");

  edge.swap(CONFIG);
  expect((await data<Hello>('hello')).revision).toBe(2);
  await expect(edge.listen({ inspector: { port: 0 } })).rejects.toThrow('observed already');
  await listening.close(0);
  await expect(fetch(new URL(listening.inspectorUrl!).origin)).rejects.toThrow();
  // Another one may follow.
  const next = await edge.listen({ inspector: { port: 0 } });
  expect(next.inspectorUrl).not.toBeNull();
  await next.close(0);
});

test('without it there is no URL; a port that is taken is an error only if asked so', async () => {
  const edge = createEdge(CONFIG);
  const plainly = await edge.listen();
  onTestFinished(() => void plainly.close(0));
  expect(plainly.inspectorUrl).toBeNull();
  const taken = { inspector: { port: plainly.port }, strictPort: true };
  await expect(edge.listen(taken)).rejects.toThrow('inspector: cannot listen on');
  // Nothing is left of it.
  const listening = await edge.listen({ inspector: { port: 0 } });
  await listening.close(0);
});
