/** Parts that do something else than they seem to. */
// table: codes, with their sentences, examples and cures
export const CODES_OF_BEHAVIOUR = {
  'analysis.glued_path': {
    basis: 'settings',
    message:
      'The replacement ends without the slash that the pattern finds, and joins two parts of the path.',
    example: "`from: '/api/'` with `to: '/internal'` makes `/internalusers` of `/api/users`",
    cure: 'end the replacement with a slash',
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
  'analysis.literal_wildcard': {
    basis: 'settings',
    message: 'The star is a character like others here, not a wildcard.',
    example:
      "`req.url.path.startsWith('/api/*')` compares with a star, and in a pattern `/*` at the end is any number of slashes",
    cure: 'leave out the star after `startsWith`, and write `.*` in patterns',
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
  'analysis.broken_redirect': {
    basis: 'settings',
    message: 'The redirect does not lead to where it seems to.',
    example:
      '`to: www.shop.test/x` without a scheme is a path; `from: http` with `to: https` makes `httpss://`',
    cure: 'write the scheme, begin the pattern with `^http:`, and give responses with status 301 a `location`',
  },
} as const;
