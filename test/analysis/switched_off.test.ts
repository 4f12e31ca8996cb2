import { expect, test } from 'vitest';
import { compare } from '../../src/analysis/diff.ts';
import { createEdge } from '../../src/edgeproof.ts';

const edgeWith = (tls: object) => {
  const { config } = createEdge({
    backends: { app: { static: { address: 'localhost:3000', ...tls } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
        },
      },
    },
  });
  return { config };
};

test('a running edge says that TLS of a backend is off; a file leaves it out', () => {
  const off = { tls: { enabled: false } };
  expect(compare(edgeWith({}), edgeWith(off)).verdict).toBe('equivalent');
  expect(compare(edgeWith({}), edgeWith({ tls: { enabled: true } })).verdict).not.toBe('equivalent');
});
