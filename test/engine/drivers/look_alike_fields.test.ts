import { describe, expect, it } from 'vitest';
import { createEdge } from '../../../src/edgeproof.ts';
import { onePolicy, oneRoute } from '../../one_route.ts';

/** The fields that an upstream receives from a request with these fields. */
async function received(config: object, headers: Record<string, string>): Promise<Headers> {
  let seen = new Headers();
  const edge = createEdge(config, {
    upstream: (request: Request) => {
      seen = request.headers;
      return Promise.resolve(new Response('reached'));
    },
  });
  await edge.handle(new Request('https://shop.test/', { headers }));
  return seen;
}

const FORGED = { service_auth_user_email: 'root@shop.test', x_tenant: 'other', api_key: 'k' };

describe('fields that an upstream may confuse with others', () => {
  it('are dropped, as are all others with an underscore', async () => {
    expect(
      Array.from((await received(oneRoute(), FORGED)).keys()).filter((name) => name.includes('_')),
    ).toEqual([]);
  });

  it('pass if configured, except for those that the edge sets or edits', async () => {
    const edits = { request_headers: { add: { 'x-tenant': 'mine' } } };
    const seen = await received(oneRoute(edits, { underscore_headers: 'pass' }), FORGED);
    expect(Object.fromEntries(Array.from(seen).filter(([name]) => /_|tenant/.test(name)))).toEqual({
      api_key: 'k',
      'x-tenant': 'mine',
    });
    const remove = { request_headers: { remove: ['api-key'] } };
    const removed = await received(oneRoute(remove, { underscore_headers: 'pass' }), FORGED);
    expect(removed.has('api_key')).toBe(false);
  });

  it('are set by the configuration', async () => {
    const edits = { request_headers: { add: { api_key: 'mine' } } };
    expect((await received(oneRoute(edits), FORGED)).get('api_key')).toBe('mine');
  });

  it('do not pass for the edge’s identity fields in rules', async () => {
    const rule = {
      expressions: [
        "getReqHeader('service-auth-user-email') == ['root@shop.test'] || hasReqHeader('service_auth_user_email')",
      ],
      actions: [{ type: 'add-headers', config: { headers: { 'x-root': 'yes' } } }],
    };
    const forged = { ...FORGED, 'service-auth-user-email': 'root@shop.test' };
    expect((await received(onePolicy({ on_http_request: [rule] }), forged)).has('x-root')).toBe(false);
  });
});
