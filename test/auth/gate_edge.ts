import { type EdgeOptions, createEdge } from '../../src/edgeproof.ts';

export const ISSUER = 'https://login.example.test';
export const OIDC = { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: 's3cret' } };

/** An edge at `app.test` whose one route has this module. */
export function edgeWith(module: object, options: EdgeOptions = {}) {
  return edgeOfRoutes([{ match: '/', match_type: 'path_prefix', ...module }], options);
}

/** An edge with these routes, all to one backend. */
export function edgeOfRoutes(routes: readonly object[], options: EdgeOptions = {}) {
  return createEdge(
    {
      edges: {
        https: {
          app: {
            hostports: ['app.test:443', 'other.test:443'],
            routes: routes.map((route) => ({ ...route, backend: { backend_id: 'web' } })),
          },
        },
      },
      backends: { web: { static: { address: '127.0.0.1:9' } } },
    },
    options,
  );
}

/** A GitHub gate with an app of the user's. */
export function github(app: object = {}, gate: object = {}) {
  return { oauth: { provider: { github: { client_id: 'gh', client_secret: 's3cret', ...app } }, ...gate } };
}
