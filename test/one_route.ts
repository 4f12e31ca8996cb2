/** An edge file with one route `/` of `https://shop.test` before a backend `app`, with other given keys. */
export function oneRoute(route: object = {}, more: object = {}) {
  return {
    backends: { app: { static: { address: 'localhost:3000' } } },
    edges: {
      https: {
        shop: {
          hostports: ['shop.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...route }],
        },
      },
    },
    ...more,
  };
}

/** The same with a traffic policy on its route. */
export function onePolicy(policy: object, route: object = {}) {
  return oneRoute({ traffic_policy: { value: JSON.stringify(policy) }, ...route });
}
