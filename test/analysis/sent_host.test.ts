import { expect, test } from 'vitest';
import { prove } from '../../src/analysis/prove.ts';
import { certifyProperty } from '../../src/analysis/certify.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { hashOf, verify } from '../../src/proof/verify.ts';

const edge = (...expressions: readonly string[]) =>
  createEdge({
    backends: { app: { static: { address: 'localhost:3000' } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443', '*.shop.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              traffic_policy: {
                value: JSON.stringify({ on_http_request: [{ expressions, actions: [{ type: 'deny' }] }] }),
              },
            },
          ],
        },
      },
    },
  }).config;

/** A rule, the requests that a property is about, and whether none of them gets through. */
test.each([
  ["req.host == 'shop.test'", "req.url.host == 'shop.test'", 'REFUTED'],
  ["req.host == 'shop.test'", "req.host == 'shop.test'", 'PROVED'],
  ["req.host.startsWith('www.')", "req.url.host == 'www.shop.test'", 'REFUTED'],
  ["req.host.lowerAscii().startsWith('www.')", "req.url.host == 'www.shop.test'", 'PROVED'],
  ["req.url.host == 'www.shop.test'", "req.host == 'WWW.shop.test:443'", 'PROVED'],
  ["req.url.host == 'www.shop.test'", "req.host == 'www.shop.test.'", 'PROVED'],
  ["req.url.host == 'www.shop.test'", "req.host.startsWith('www.')", 'REFUTED'],
  ["req.host.contains(':')", "req.host == 'shop.test:8443'", 'PROVED'],
  ["req.host.contains('other')", "req.host == 'other.example'", 'PROVED'],
  ["req.host.contains(':')", "req.url.host == 'shop.test'", 'REFUTED'],
])('%s, and requests with %s', (rule, where, expected) => {
  const config = edge(rule);
  const proof = prove(config, { name: 'closed', where, never: { end: 'forwarded' } });
  expect(proof.verdict).toBe(expected);
});

test('a proof that does not need the host as sent has a certificate', () => {
  const config = edge("req.host == 'x' || req.method == 'PUT'");
  const property = { name: 'closed', where: "req.method == 'PUT'", never: { end: 'forwarded' } } as const;
  const certificate = certifyProperty(config, property, [hashOf(config)]);
  expect(verify(certificate, [config]).classes).toBeGreaterThan(1);
});
