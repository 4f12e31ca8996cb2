import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkHands } from '../../src/answers/hands.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { browserOf, codeOf } from './browser.ts';
import { CLIENT, type RealOp, realOp } from './real_op.ts';

const ORIGIN = 'https://app.test';
let op: RealOp;

beforeAll(async () => {
  op = await realOp([`${ORIGIN}/auth/callback`]);
});
afterAll(() => op.close());

function edgeOf(config: object = {}, options: { clock?: () => number } = {}) {
  const seen: Request[] = [];
  const edge = createEdge(
    {
      edges: {
        https: {
          app: {
            hostports: ['app.test:443'],
            routes: [
              {
                match: '/',
                match_type: 'path_prefix',
                oidc: { issuer: op.issuer, ...CLIENT, ...config },
                backend: { backend_id: 'web' },
              },
            ],
          },
        },
      },
      backends: { web: { static: { address: '127.0.0.1:9' } } },
    },
    {
      ...options,
      hands: networkHands(),
      upstream: (request) => {
        seen.push(request);
        return new Response('the app');
      },
    },
  );
  return { edge, seen };
}

describe('OpenID Connect against a real provider', () => {
  it('logs in, and tells the upstream who', async () => {
    const { edge, seen } = edgeOf();
    const browser = browserOf(edge, 'app.test');
    const last = await browser.visit(`${ORIGIN}/deep/page?a=1`);
    console.log(
      browser.hops.map((h) => [
        h.url.slice(0, 80),
        h.status,
        codeOf(h, 'oidc'),
        h.status > 399 ? h.text : '',
        JSON.stringify(h.trace.map((s) => s.detail)),
      ]),
    );
    expect(last).toMatchObject({ url: `${ORIGIN}/deep/page?a=1`, status: 200, text: 'the app' });
    expect(seen).toHaveLength(1);
    expect(seen[0]!.headers.get('service-auth-user-email')).toBe('alice@example.test');
  });
});
