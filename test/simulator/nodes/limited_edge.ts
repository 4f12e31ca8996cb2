import { type Edge, createEdge } from '../../../src/edgeproof.ts';

/** An edge with a limit by address. */
export function limitedEdge(capacity: number): Edge {
  const policy = {
    on_http_request: [
      {
        actions: [
          {
            type: 'rate-limit',
            config: {
              name: 'by address',
              algorithm: 'sliding_window',
              capacity,
              rate: '60s',
              bucket_key: ['conn.client_ip'],
            },
          },
        ],
      },
    ],
  };
  const route = {
    match_type: 'path_prefix',
    match: '/',
    traffic_policy: { value: JSON.stringify(policy) },
    backend: { backend_id: 'app' },
  };
  return createEdge({
    backends: { app: { static: { address: '127.0.0.1:1' } } },
    edges: { https: { shop: { hostports: ['shop.test:443'], routes: [route] } } },
  });
}
