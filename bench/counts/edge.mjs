/** The edge that is counted: what an ordinary route has switched on. */
export const EDGE = {
  ip_policies: {
    office: {
      rules: Array.from({ length: 100 }, (_, at) => ({ cidr: `10.${at}.0.0/16`, action: 'deny' })).concat({
        cidr: '0.0.0.0/0',
        action: 'allow',
      }),
    },
  },
  backends: { app: { static: { address: '127.0.0.1:3000' } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443', 'localhost:443'],
        routes: [
          {
            match_type: 'path_prefix',
            match: '/',
            ip_restriction: { ip_policy_ids: ['office'] },
            user_agent_filter: { deny: ['badbot', '(?i)scanner/[0-9]+'] },
            circuit_breaker: {},
            traffic_policy: {
              value: JSON.stringify({
                on_http_request: [
                  { expressions: ["req.method == 'TRACE'"], actions: [{ type: 'deny' }] },
                  {
                    expressions: ["req.url.path.startsWith('/admin')", "!('x-admin' in req.headers)"],
                    actions: [{ type: 'deny' }],
                  },
                ],
              }),
            },
            request_headers: { add: { 'x-edge': '1' } },
            response_headers: { remove: ['server'] },
            backend: { backend_id: 'app' },
          },
        ],
      },
    },
  },
};

/** A browser's request. */
export const REQUEST = {
  url: 'https://shop.test/items/17?colour=blue',
  headers: {
    'user-agent':
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
    'accept-language': 'en-GB,en;q=0.9',
    'accept-encoding': 'gzip, br',
    cookie: 'session=0123456789abcdef; theme=dark',
  },
};
