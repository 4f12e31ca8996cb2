/** Parts of a configuration that change nothing, and comments that silence findings. */
// table: codes, with their sentences, examples and cures
export const CODES_OF_EFFECT = {
  'analysis.too_large': {
    basis: 'settings',
    message: 'The route is too large for exact analysis, so findings about it may be missing.',
    example: 'ten rules that each add a header, under conditions of their own: 1,024 ways through one route',
    cure: 'join rules, or give them a route of their own',
  },
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
  'analysis.pattern_matches_all': {
    basis: 'proved',
    message: 'The pattern matches every user agent.',
    example: "`allow: ['.*']`, which makes all denied patterns useless",
    cure: 'write a pattern for the intended agents only',
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
  'analysis.dead_url_pattern': {
    basis: 'proved',
    message: 'The pattern occurs in no URL: it is searched in the whole one, with scheme and host.',
    example: "`url-rewrite` with `from: '^/api'`: URLs begin with `https://`",
    cure: 'leave out the anchor, or write the scheme and the host',
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
  'analysis.forwarded_before': {
    basis: 'settings',
    message:
      'No request reaches this module: the policy of its route forwards all requests to an internal endpoint.',
    example: '`request_headers` beside a policy that ends in `forward-internal`',
    cure: 'move the module to the route of the internal endpoint, or use an action of the policy before it forwards',
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
  'analysis.ignored_value': {
    basis: 'settings',
    message: 'Browsers ignore this value.',
    example: '`strict-transport-security: max-age: 31536000`, or `SameSite=Nonee`',
    cure: 'correct the value',
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
