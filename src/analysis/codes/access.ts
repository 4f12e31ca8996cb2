/** Gates that stop too little or too much, or trust what clients choose. */
// table: codes, with their sentences, examples and cures
export const CODES_OF_ACCESS = {
  'analysis.unanchored_pattern': {
    basis: 'settings',
    message: 'The pattern also matches in the middle of the text, because it has no anchor.',
    example: "`req.url.path.matches('/admin')` matches `/shop/admin`, too",
    cure: 'begin the pattern with `^`, and end patterns for whole hosts with `$`',
  },
  'analysis.blocks_all': {
    basis: 'proved',
    message: 'The ranges allow no client address.',
    example: 'an allowed range inside of a denied one',
    cure: 'allow a range that is not denied',
  },
  'analysis.allows_all': {
    basis: 'proved',
    message: 'The ranges allow every client address.',
    example: '`0.0.0.0/0` and `::/0` without a denied range',
    cure: 'allow less, or remove the module',
  },
  'analysis.one_family': {
    basis: 'proved',
    message: 'All addresses of one family are allowed, and none of the other.',
    example:
      '`allow 0.0.0.0/0` refuses all clients with IPv6; `allow ::/0` does not contain mapped IPv4 addresses',
    cure: 'add the range of the other family: `0.0.0.0/0` or `::/0`',
  },
  'analysis.pattern_of_case': {
    basis: 'settings',
    message: 'The denied pattern does not match the same name in other letter cases.',
    example: "`deny: ['badbot']` lets `BadBot` through",
    cure: 'begin the pattern with `(?i)`',
  },
  'analysis.unescaped_dot': {
    basis: 'settings',
    message: 'The dot in the pattern is any character, so another name matches, too.',
    example: 'an Origin that matches `^https://www.shop.test$`: `https://wwwxshop.test` does',
    cure: 'write `[.]` for a dot',
  },
  'analysis.forged_field': {
    basis: 'settings',
    message: 'Clients choose this themselves, so it says nothing about where a request comes from.',
    example: 'a rule that lets requests pass whose `X-Forwarded-For` begins with `10.`',
    cure: 'use `conn.client_ip`, which is the address of the connection',
  },
  'analysis.header_bypass': {
    basis: 'run',
    message: 'The rule lets requests pass that have a header of the right form, which any client can send.',
    example: "a login for `!req.user_agent.contains('Googlebot')`",
    cure: 'make the exception by the address of the client, or by a path that needs no login',
  },
  'analysis.late_gate': {
    basis: 'settings',
    message: 'The action stops the response only: the backend has already processed the request.',
    example: '`restrict-ips`, or a `custom-response` for `!hasReqHeader(…)`, under `on_http_response`',
    cure: 'move the rule to `on_http_request`',
  },
  'analysis.unread_result': {
    basis: 'settings',
    message: 'The action stops no request, and no expression reads its result.',
    example: '`restrict-ips` with `enforce: false`, and no rule that reads `actions.service.restrict_ips`',
    cure: 'leave out `enforce: false` once the events show the expected results',
  },
  'analysis.open_host': {
    basis: 'run',
    message: 'The gate is on a route of one host; the same path of another host reaches the same backend.',
    example: 'a gated route `shop.test/admin`, and a route `/` for `*.shop.test`',
    cure: 'leave out the host of the gated route, or gate the other one',
  },
  'analysis.blocked_route': {
    basis: 'proved',
    message: 'No request reaches the backend of this route: its modules and rules together stop all.',
    example: 'a module that allows `10.0.0.0/8` before an action that allows `192.168.0.0/16`',
    cure: 'correct the conditions that contradict each other, or remove the backend',
  },
  'analysis.drawn_again': {
    basis: 'settings',
    message:
      'Each expression draws a number of its own, so this rule and an earlier one may both apply, or neither.',
    example: '`rand.double() < 0.5` in one rule and `rand.double() >= 0.5` in another',
    cure: 'draw once with `set-vars`, and compare the variable',
  },
  'analysis.scattered_limit': {
    basis: 'settings',
    message: 'The key is another one for each connection or request, so the limit is never reached.',
    example: '`bucket_key: [conn.client_port]`',
    cure: 'count by what stays the same, such as `conn.client_ip`',
  },
  'analysis.refused_cors': {
    basis: 'settings',
    message: 'Browsers refuse responses with these CORS headers.',
    example: '`access-control-allow-origin: *` with `access-control-allow-credentials: true`',
    cure: 'name one origin, once',
  },
  'analysis.open_cors': {
    basis: 'settings',
    message: 'Pages of every origin may read responses that belong to the user.',
    example: 'an `access-control-allow-origin` that repeats the Origin of the request, with credentials',
    cure: 'compare the Origin with the allowed ones in an expression of the rule',
  },
  'analysis.method_bypass': {
    basis: 'run',
    message: 'The rule stops a request that passes with another method for the same content.',
    example: "a rule that denies `req.method == 'GET' && …`: HEAD gets through",
    cure: "name both methods: `req.method in ['GET', 'HEAD']`",
  },
  'analysis.spelling_bypass': {
    basis: 'run',
    message: 'The gate stops a path that passes in another spelling.',
    example: 'an exact route `/admin` with a gate, before an open route for everything else under `/`',
    cure: 'use a prefix route, or compare `req.url.path` by `==`, `in` or `startsWith`, which cover spellings',
  },
  'analysis.query_bypass': {
    basis: 'run',
    message: 'The rule stops a query that passes with the same parameters in another spelling.',
    example: "a rule that denies `req.url.query == 'debug=1'`: `debug=1&x=1` gets through",
    cure: "ask for the parameter: `hasQueryParam('debug')`",
  },
  'analysis.open_subpaths': {
    basis: 'run',
    message: 'The gate is on an exact path; paths below it reach the same backend through an open route.',
    example: '`exact_path` `/admin` with a gate, and `/admin/users` through the route `/` without it',
    cure: 'make it a `path_prefix`, or gate the other route',
  },
  'analysis.passes_options': {
    basis: 'settings',
    message: 'OPTIONS requests reach the backend without a login.',
    example: '`options_passthrough: true` before a backend that does more for OPTIONS than answer preflights',
    cure: 'turn the option off if no script of another origin uses the route',
  },
  'analysis.long_session': {
    basis: 'settings',
    message: 'A user who has lost access can keep a session for longer than the limit.',
    example: 'a maximum duration of a year: the provider is only asked at the login',
    cure: 'lower the maximum duration, or check the user again in intervals',
  },
  'analysis.unused_inactivity': {
    basis: 'settings',
    message: 'The maximum duration ends sessions before their inactivity does.',
    example: '`inactivity_timeout: 7200` with `maximum_duration: 3600`',
    cure: 'lower the inactivity timeout, or raise the maximum duration',
  },
  'analysis.shared_limit': {
    basis: 'settings',
    message: 'All clients share this limit, because its key is a constant.',
    example: '`rate-limit` with `bucket_key: ["\'all\'"]`: one client can use up the limit of all',
    cure: 'count by what tells clients apart, such as `conn.client_ip`',
  },
  'analysis.match_after_rewrite': {
    basis: 'run',
    message: 'The rule compares the URL after an earlier action rewrote it.',
    example: 'a rule for `/old` after a rewrite of `/old` to `/new`',
    cure: 'move the rule before the rewrite, or compare with the new path',
  },
  'analysis.not_an_origin': {
    basis: 'settings',
    message: 'No page has this origin.',
    example: 'an Origin that is compared with `https://shop.test/`: origins end without a slash',
    cure: 'write the scheme, the host in lower case, and the port if it is not the usual one',
  },
  'analysis.logs_secret': {
    basis: 'settings',
    message: 'The log contains credentials of users.',
    example: "`log` with `${getReqHeader('authorization').join(',')}`",
    cure: 'log whether the header is there, or what a gate says about the user',
  },
  'analysis.removed_before': {
    basis: 'settings',
    message: 'An earlier action removes the header that this gate asks for, so it stops all requests.',
    example: '`remove-headers: [authorization]` before `basic-auth`',
    cure: 'remove the header after the gate',
  },
} as const;
