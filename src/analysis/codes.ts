import type { Basis } from '../diagnostics/diagnostic.ts';

/** How a finding is known. */
export const BASES = {
  proved: 'It is proved for all requests.',
  run: 'It is shown by a request that was run on the engine.',
  settings: 'It follows from the configuration alone; no request was run.',
} as const satisfies Readonly<Record<Basis, string>>;

/** What findings say, and how each is known. */
// table: codes, with their sentences, examples and cures
export const ANALYSIS_CODES = {
  'analysis.dead_rule': {
    basis: 'proved',
    message: 'No request ever reaches this rule and satisfies its expressions.',
    example: "a rule for `req.url.path == '/a/b'` after one that denies all paths under `/a`",
    cure: 'move the rule before those that take its requests, or remove it',
  },
  'analysis.dead_path': {
    basis: 'proved',
    message: 'Only other spellings of the path reach this rule; no request matches it as written.',
    example: "a rule that denies `req.url.path == '/admin'` on the route `/api`",
    cure: 'correct the path, or move the rule to the route of the path, or before the rule that takes its requests',
  },
  'analysis.dead_action': {
    basis: 'proved',
    message: 'No request ever reaches this action, because those before it end the phase.',
    example: '`log` after `deny` in one rule',
    cure: 'move the action before the one that ends the phase',
  },
  'analysis.dead_route': {
    basis: 'proved',
    message: 'No request ever matches this route.',
    example: 'a route of a host whose requests all have more specific routes',
    cure: 'correct the match, or remove the route',
  },
  'analysis.redundant_route': {
    basis: 'proved',
    message: 'The route does exactly what a less specific route does with its requests.',
    example: 'a route `/api/v1` with the same modules as the route `/api`',
    cure: 'remove the route, or give it the modules that it was meant to have',
  },
  'analysis.never_true': {
    basis: 'proved',
    message: 'This part of the expression is never true.',
    example: "`req.method == 'GET' || req.method == 'get'`: methods are upper case",
    cure: 'correct the comparison, or remove it',
  },
  'analysis.always_true': {
    basis: 'proved',
    message: 'This part of the expression is true for every request that the policy gets.',
    example: "`req.url.path.startsWith('/')`",
    cure: 'correct the condition, or remove it',
  },
  'analysis.redundant_expression': {
    basis: 'proved',
    message: 'Removing this condition changes nothing: the others of the rule imply it.',
    example: "`req.url.path.startsWith('/a') && req.url.path.startsWith('/a/b')`: the first is implied",
    cure: 'remove the condition, or correct it if it was meant to say something else',
  },
  'analysis.redundant_element': {
    basis: 'proved',
    message: 'Removing this element of the list changes nothing.',
    example: "`req.method in ['GET', 'get']`, or a range inside another range of the list",
    cure: 'remove the element, or correct it',
  },
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
  'analysis.swallowed_range': {
    basis: 'proved',
    message: 'Every address of the allowed range is denied by another rule.',
    example: '`allow 10.1.0.0/16` with `deny 10.0.0.0/8`: a denied range outweighs allowed ones',
    cure: 'narrow the denied range, or remove the allowed one',
  },
  'analysis.redundant_range': {
    basis: 'proved',
    message: 'Removing this range changes nothing, wherever it is used.',
    example: '`allow 10.1.0.0/16` with `allow 10.0.0.0/8`, or a denied range that nothing allows',
    cure: 'remove the range',
  },
  'analysis.one_family': {
    basis: 'proved',
    message: 'All addresses of one family are allowed, and none of the other.',
    example:
      '`allow 0.0.0.0/0` refuses all clients with IPv6; `allow ::/0` does not contain mapped IPv4 addresses',
    cure: 'add the range of the other family: `0.0.0.0/0` or `::/0`',
  },
  'analysis.dead_pattern': {
    basis: 'proved',
    message: 'Every user agent that this pattern matches is decided by the patterns before it.',
    example: "`allow: ['^curl/', '^curl/8']`",
    cure: 'remove the pattern, or the wider one',
  },
  'analysis.unneeded_pattern': {
    basis: 'proved',
    message: 'Without this allowed pattern its user agents would pass, too: none of them is denied.',
    example: "`allow: ['^our-agent/']` without a denied pattern, which lets all other agents pass",
    cure: "deny the others, with `deny: ['.*']`, or remove the pattern",
  },
  'analysis.pattern_of_case': {
    basis: 'settings',
    message: 'The denied pattern does not match the same name in other letter cases.',
    example: "`deny: ['badbot']` lets `BadBot` through",
    cure: 'begin the pattern with `(?i)`',
  },
  'analysis.pattern_matches_all': {
    basis: 'proved',
    message: 'The pattern matches every user agent.',
    example: "`allow: ['.*']`, which makes all denied patterns useless",
    cure: 'write a pattern for the intended agents only',
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
  'analysis.unused_check': {
    basis: 'settings',
    message: 'Sessions end before the user is checked again.',
    example: '`auth_check_interval: 7200` with `maximum_duration: 3600`',
    cure: 'lower the interval, or leave it out',
  },
  'analysis.same_backend': {
    basis: 'settings',
    message: 'The part is the same server as another part before it.',
    example: '`weighted: {app: 90, canary: 10}`, where both have the same address',
    cure: 'correct the address, or use one backend',
  },
  'analysis.glued_path': {
    basis: 'settings',
    message:
      'The replacement ends without the slash that the pattern finds, and joins two parts of the path.',
    example: "`from: '/api/'` with `to: '/internal'` makes `/internalusers` of `/api/users`",
    cure: 'end the replacement with a slash',
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
  'analysis.dropped_cookie': {
    basis: 'settings',
    message: 'Browsers drop this cookie.',
    example: '`set-cookie: sid=1; SameSite=None` without `Secure`',
    cure: 'correct the attributes of the cookie',
  },
  'analysis.dropped_header': {
    basis: 'settings',
    message: 'Headers with an underscore in their name are dropped, so that no request has this one.',
    example: "`hasReqHeader('x_debug')` while `underscore_headers` is `drop`",
    cure: 'write the name with dashes, or set `underscore_headers: pass`',
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
  'analysis.breaker_one_error': {
    basis: 'settings',
    message: 'One failed request opens the circuit.',
    example: 'a volume threshold of 1, or a threshold of 5 % of at least 10 requests',
    cure: 'raise the volume threshold or the share of errors',
  },
  'analysis.breaker_never_trips': {
    basis: 'settings',
    message: 'The circuit never opens.',
    example:
      'a breaker for a backend that the edge answers itself, or a volume that no process reaches within the window',
    cure: 'lower the volume threshold, or remove the circuit breaker',
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
  'analysis.dead_url_pattern': {
    basis: 'proved',
    message: 'The pattern occurs in no URL: it is searched in the whole one, with scheme and host.',
    example: "`url-rewrite` with `from: '^/api'`: URLs begin with `https://`",
    cure: 'leave out the anchor, or write the scheme and the host',
  },
  'analysis.literal_wildcard': {
    basis: 'settings',
    message: 'The star is a character like others here, not a wildcard.',
    example:
      "`req.url.path.startsWith('/api/*')` compares with a star, and in a pattern `/*` at the end is any number of slashes",
    cure: 'leave out the star after `startsWith`, and write `.*` in patterns',
  },
  'analysis.dead_backend': {
    basis: 'settings',
    message: 'The backend is never tried, because one before it always responds.',
    example: '`failover: [sorry, app]`, where `sorry` is an `http_response`',
    cure: 'put the backend that always responds last',
  },
  'analysis.zero_weight': {
    basis: 'settings',
    message: 'The backend is never chosen, because its weight is 0.',
    example: '`weighted: {app: 100, canary: 0}`',
    cure: 'give it a weight, or remove it',
  },
  'analysis.shared_limit': {
    basis: 'settings',
    message: 'All clients share this limit, because its key is a constant.',
    example: '`rate-limit` with `bucket_key: ["\'all\'"]`: one client can use up the limit of all',
    cure: 'count by what tells clients apart, such as `conn.client_ip`',
  },
  'analysis.idle_limit': {
    basis: 'settings',
    message: 'The limit is never reached: an earlier one with the same key allows no more requests.',
    example:
      '`capacity: 1000` after a `rate-limit` for all requests with `capacity: 10`, the same key and rate',
    cure: 'lower its capacity, or give one of them another condition or rate',
  },
  'analysis.idle_replacement': {
    basis: 'settings',
    message: 'The replacement is what the pattern finds, so the URL does not change.',
    example: "`redirect` with `from: '/old/'` and `to: '/old/'`",
    cure: 'correct the replacement, or remove the action',
  },
  'analysis.redirect_to_itself': {
    basis: 'run',
    message: 'The redirect leads to the URL of the request, so it has no effect.',
    example: "a redirect to `https://app.test/login` in a rule for `req.url.path == '/login'`",
    cure: 'correct the target or the condition',
  },
  'analysis.redirect_loop': {
    basis: 'run',
    message: 'The redirect leads to itself, or to another redirect that leads back.',
    example: 'a redirect from `/` to `/login` that also takes `/login`',
    cure: 'exclude the target from the condition',
  },
  'analysis.match_after_rewrite': {
    basis: 'run',
    message: 'The rule compares the URL after an earlier action rewrote it.',
    example: 'a rule for `/old` after a rewrite of `/old` to `/new`',
    cure: 'move the rule before the rewrite, or compare with the new path',
  },
  'analysis.address_as_text': {
    basis: 'settings',
    message: 'The address is compared as a text, and other addresses match, too.',
    example: "`conn.client_ip.startsWith('192.168.1')` is also true for 192.168.100.1",
    cure: "compare with a range: `inCidrRange(conn.client_ip, '192.168.1.0/24')`",
  },
  'analysis.unknown_country': {
    basis: 'settings',
    message: 'There is no country of this code.',
    example: "`conn.geo.country_code == 'UK'`: the code is `GB`",
    cure: 'write the two upper-case letters of ISO 3166-1',
  },
  'analysis.not_an_origin': {
    basis: 'settings',
    message: 'No page has this origin.',
    example: 'an Origin that is compared with `https://shop.test/`: origins end without a slash',
    cure: 'write the scheme, the host in lower case, and the port if it is not the usual one',
  },
  'analysis.ignored_value': {
    basis: 'settings',
    message: 'Browsers ignore this value.',
    example: '`strict-transport-security: max-age: 31536000`, or `SameSite=Nonee`',
    cure: 'correct the value',
  },
  'analysis.broken_redirect': {
    basis: 'settings',
    message: 'The redirect does not lead to where it seems to.',
    example:
      '`to: www.shop.test/x` without a scheme is a path; `from: http` with `to: https` makes `httpss://`',
    cure: 'write the scheme, begin the pattern with `^http:`, and give responses with status 301 a `location`',
  },
  'analysis.logs_secret': {
    basis: 'settings',
    message: 'The log contains credentials of users.',
    example: "`log` with `${getReqHeader('authorization').join(',')}`",
    cure: 'log whether the header is there, or what a gate found out about the user',
  },
  'analysis.removed_before': {
    basis: 'settings',
    message: 'An earlier action removes the header that this gate asks for, so it stops all requests.',
    example: '`remove-headers: [authorization]` before `basic-auth`',
    cure: 'remove the header after the gate',
  },
  'analysis.silence_without_reason': {
    basis: 'settings',
    message: 'A comment that silences a finding must give a reason.',
    example: '`# edgeproof-ignore analysis.dead_rule`',
    cure: 'write the reason after a colon: `# edgeproof-ignore analysis.dead_rule: until the migration`',
  },
  'analysis.unused_silence': {
    basis: 'settings',
    message: 'The comment silences nothing.',
    example: '`# edgeproof-ignore analysis.dead_rule: …` before a rule that is not dead',
    cure: 'remove the comment',
  },
} as const;

export type AnalysisCode = keyof typeof ANALYSIS_CODES;
