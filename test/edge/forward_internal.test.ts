import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';

const policy = (document: object) => ({ traffic_policy: { value: JSON.stringify(document) } });
const route = (more: object) => ({ match_type: 'path_prefix', match: '/', ...more });
const forwardTo = (url: string) => ({ actions: [{ type: 'forward-internal', config: { url } }] });

/** A public edge that forwards to internal ones. */
function chain(inner: object, response: readonly object[] = []) {
  const events: HttpRequestCompleteEvent[] = [];
  const edge = createEdge(
    {
      backends: { app: { static: { address: 'localhost:3000' } } },
      edges: {
        https: {
          front: {
            hostports: ['shop.test:443'],
            routes: [
              route(
                policy({
                  on_http_request: [forwardTo('https://inner.internal')],
                  on_http_response: response,
                }),
              ),
            ],
          },
          inner: { hostports: ['inner.internal:443'], routes: [route(inner)] },
          loop: {
            hostports: ['loop.internal:443'],
            routes: [route(policy({ on_http_request: [forwardTo('https://loop.internal')] }))],
          },
        },
      },
    },
    {
      upstream: async (request) =>
        Response.json({
          url: new URL(request.url).pathname,
          host: request.headers.get('host'),
          for: request.headers.get('x-forwarded-for'),
          added: request.headers.get('x-inner'),
          body: await request.text(),
        }),
      onEvent: (event) => events.push(event),
    },
  );
  return { edge, events };
}

const ask = (path = '/', init: RequestInit = {}) => new Request(`https://shop.test${path}`, init);

describe('forward-internal', () => {
  it('runs the other edge, which sees the public host, with one event', async () => {
    const { edge, events } = chain({
      request_headers: { add: { 'x-inner': 'yes' } },
      backend: { backend_id: 'app' },
    });
    const { response, trace } = await edge.handle(ask('/a', { method: 'POST', body: 'hello' }), {
      clientIp: '192.0.2.7',
    });
    expect(await response.json()).toEqual({
      url: '/a',
      host: 'shop.test',
      for: '192.0.2.7',
      added: 'yes',
      body: 'hello',
    });
    expect(events).toHaveLength(1);
    expect(events[0]!.object.http.response.status_code).toBe(200);
    expect(trace.map(({ module, code }) => `${module} ${code}`)).toEqual([
      'route route.matched',
      'traffic_policy traffic_policy.forwarded',
      'route route.matched',
      'request_headers request_headers.edited',
      'backend backend.picked',
      'upstream upstream.answered',
    ]);
  });

  it('runs the response phase of the public edge on the response', async () => {
    const add = {
      actions: [{ type: 'add-headers', config: { headers: { 'x-front': '${res.status_code}' } } }],
    };
    const { edge } = chain({ backend: { backend_id: 'app' } }, [add]);
    const { response } = await edge.handle(ask());
    expect(response.headers.get('x-front')).toBe('200');
  });

  it('passes on refusals of the inner edge', async () => {
    const deny = policy({ on_http_request: [{ actions: [{ type: 'deny', config: { status_code: 418 } }] }] });
    const { edge } = chain({ ...deny, backend: { backend_id: 'app' } });
    expect((await edge.handle(ask())).response.status).toBe(418);
  });

  it('never lets a client name an internal endpoint itself', () => {
    const { edge } = chain({ backend: { backend_id: 'app' } });
    const decision = edge.decide({ url: 'https://inner.internal/' });
    expect(decision.status).toBe(404);
    expect(decision.trace[0]!.code).toBe('route.unknown_host');
  });

  it('ends a loop', () => {
    const { edge } = chain(policy({ on_http_request: [forwardTo('https://loop.internal')] }));
    const decision = edge.decide({ url: 'https://shop.test/' });
    expect(decision.status).toBe(500);
    expect(decision.trace.filter(({ code }) => code === 'traffic_policy.forwarded').length).toBe(8);
    expect(decision.trace.at(-1)!.detail).toMatchObject({ error: 'ERR_SERVICE_3501' });
  });
});
