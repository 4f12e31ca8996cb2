import { PARTNERS_PEM } from './authority.ts';
import { type Edge, type EdgeOptions, createEdge } from '../../../src/edgeproof.ts';

/** An edge of one route that has the module under test, and everything that module configs of the cases name. */
export function edgeAround(module: string, config: object, options: EdgeOptions): Edge {
  return createEdge(configAround(module, config, { app: '127.0.0.1:3000', next: '127.0.0.1:3001' }), options);
}

/** Modules of the edge, not of its routes. */
export const OF_EDGE: ReadonlySet<string> = new Set(['tls_termination', 'mutual_tls']);

/** The same as a configuration, with the addresses of its upstreams. */
export function configAround(
  module: string,
  config: object,
  addresses: { app: string; next: string },
): object {
  const isOfEdge = OF_EDGE.has(module);
  return {
    certificate_authorities: { partners: { ca_pem: PARTNERS_PEM }, staff: { ca_pem: PARTNERS_PEM } },
    ip_policies: {
      office: {
        rules: [
          { cidr: '203.0.113.128/25', action: 'deny' },
          { cidr: '203.0.113.0/24', action: 'allow' },
        ],
      },
      guests: { rules: [{ cidr: '2001:db8::/32', action: 'allow' }] },
      nobody: { rules: [] },
    },
    backends: {
      app: { static: { address: addresses.app } },
      next: { static: { address: addresses.next } },
      sorry: { http_response: { status_code: 503, headers: { 'x-sorry': 'yes' }, body: 'sorry' } },
      split: { weighted: { app: 3, next: 1 } },
      safe: { failover: ['app', 'sorry'] },
      drained: { weighted: { app: 0, next: 0 } },
      agents: { tunnel_group: { labels: { app: 'shop' } } },
    },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          ...(isOfEdge && { [module]: config }),
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              ...(!isOfEdge && { [module]: config }),
            },
          ],
        },
      },
    },
  };
}
