import { describe, expect, test } from 'vitest';
import { brandingOf } from '../../../src/engine/branding.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';
import type { PolicySetting } from '../../../src/policy/document/setting.ts';

const branding = brandingOf('service');

function found(policy: object, setting: Partial<PolicySetting> = {}) {
  return checkPolicy({ name: 'p.json', text: JSON.stringify(policy) }, { branding, ...setting }).diagnostics;
}

function rule(expressions: readonly string[], action: object = { type: 'custom-response' }): object {
  return { on_http_response: [{ expressions, actions: [action] }] };
}

const log = (text: string): object => ({ type: 'log', config: { metadata: { text } } });

test.each([
  ["req.host == 'admin.test'", 'req.host'],
  ["req.url.authority == 'admin.test'", 'req.url.authority'],
  ["req.headers['Host'][0] == 'admin.test'", "req.headers['Host']"],
  ["getReqHeader('host')[0] == 'admin.test'", "getReqHeader('host')"],
  ["req.url.authority != 'admin.test'", null],
  ["req.url.host == 'admin.test'", null],
])('a guard by the host as it was sent: %s', (expression, variable) => {
  const policy = { on_http_request: [{ expressions: [expression], actions: [{ type: 'deny' }] }] };
  const messages = found(policy).flatMap(({ code, message }) =>
    code === 'policy.host_as_sent' ? [message] : [],
  );
  expect(messages).toHaveLength(variable === null ? 0 : 1);
  if (variable !== null) expect(messages[0]).toContain(`guards by \`${variable}\`,`);
});

test.each([
  ['its value', [], '${req.url.path}', true],
  ['its rule', ["req.url.path.startsWith('/admin')"], 'admin', true],
  ['neither', ["req.method == 'GET'"], 'admin', false],
])('a guard by a variable that %s derives from the path', (_which, expressions, value, isFound) => {
  const setting = { expressions, actions: [{ type: 'set-vars', config: { vars: [{ area: value }] } }] };
  const guard = { expressions: ["has(vars.area) && vars.area == 'admin'"], actions: [{ type: 'deny' }] };
  const codes = found({ on_http_request: [setting, guard] }).map(({ code }) => code);
  expect(codes.includes('policy.path_in_variable')).toBe(isFound);
});

describe('reads of what may be missing', () => {
  test.each([
    ["req.headers['x'][0] == 'a'"],
    ["req.headers.x[0] == 'a'"],
    ["req.url.query_params['q'][0] == 'a'"],
    ["hasQueryParam('Q') && req.url.query_params['q'][0] == 'a'"],
    ["req.cookies['a'][0] == 'b'"],
    ["getReqCookie('a') == 'b'"],
    ["getResCookie('a') == 'b'"],
    ["hasReqCookie('b') && getReqCookie('a') == 'b'"],
    ["conn.geo.country_code == 'US'"],
    ["conn.client_ip.geo.location.country_code == 'US'"],
    ['conn.client_ip.is_tor_node'],
    ["hasReqHeader('x') || req.headers['x'][0] == 'a'"],
    ["getReqHeader('x')[0] == 'a'"],
    ["getResHeader('x')[1] == 'a'"],
    ["hasQueryParam('Q') && getQueryParam('q')[0] == 'a'"],
    ["size(getReqHeader('y')) > 0 && getReqHeader('x')[0] == 'a'"],
    ['req.content_length > 1000'],
    ['res.content_length > 1000'],
  ])('%s gets a warning', (expression) => {
    expect(found(rule([expression])).map(({ code }) => code)).toEqual(['expr.may_be_missing']);
  });

  test.each([
    ["hasReqHeader('X') && req.headers['x'][0] == 'a'"],
    ["!hasReqHeader('x') || req.headers['x'][0] == 'a'"],
    ["hasReqHeader('x') ? req.headers['x'][0] == 'a' : false"],
    ["'x' in req.headers && req.headers['X'][0] == 'a'"],
    ["hasResHeader('x') && res.headers['x'][0] == 'a'"],
    ["hasQueryParam('q') && req.url.query_params['q'][0] == 'a'"],
    ["has(req.url.query_params.q) && req.url.query_params['q'][0] == 'a'"],
    ["hasReqCookie('a') && getReqCookie('a') == 'b'"],
    ["hasReqCookie('a') && req.cookies['a'][0] == 'b'"],
    ["hasResCookie('a') && getResCookie('a').secure"],
    ["has(conn.geo.country_code) && conn.geo.country_code == 'US'"],
    ["has(conn.client_ip.geo) && conn.client_ip.geo.location.country_code == 'US'"],
    ['has(req.headers.x)'],
    ["getReqHeader('x') == ['a']"],
    ["hasReqHeader('X') && getReqHeader('x')[0] == 'a'"],
    ["'x' in req.headers && getReqHeader('x')[0] == 'a'"],
    ["hasQueryParam('q') && getQueryParam('q')[0] == 'a'"],
    ["size(getReqHeader('x')) > 0 && getReqHeader('X')[0] == 'a'"],
    ["getReqHeader('x').size() != 0 && getReqHeader('x')[0] == 'a'"],
    ["getReqHeader('x')[?0].orValue('') == 'a'"],
    ['has(req.content_length) && req.content_length > 1000'],
  ])('%s is not', (expression) => {
    expect(found(rule([expression]))).toEqual([]);
  });

  test('an earlier condition of the rule guards later ones and the texts of its actions', () => {
    expect(
      found(rule(["hasReqHeader('x')", "req.headers['x'][0] == 'a'"], log("${req.headers['X'][0]}"))),
    ).toEqual([]);
    const [one] = found(rule(["hasReqHeader('x')"], log("${req.headers['y'][0]}")));
    expect(one).toMatchObject({ code: 'expr.may_be_missing' });
  });
});

describe('mistakes of public pages', () => {
  test.each([
    ["req.url.path.includes('/a')", "did you mean 'contains'?"],
    ["req.path == '/a'", "did you mean 'req.url.path'?"],
    ["actions.other.oauth.identity.email == 'a'", "it can only be 'service'"],
    ['len(req.url.path) > 1', "did you mean 'size'?"],
    ['size(req.headers) > 1 && req.url.path.length > 1', 'did you mean size()?'],
    ["has(req.headers['x'])", "did you mean `'x' in req.headers`?"],
    ["req.method === 'GET'", 'did you mean `==`?'],
    ["req.method !== 'GET'", 'did you mean `!=`?'],
    ['req.method == \u2018GET\u2019', "did you mean `'`?"],
    ['\u201creq.method == 1\u201d', 'did you mean `"`?'],
    ["res.status_code < '200'", 'did you mean 200?'],
    ["req.headers.get('x') == 'a'", "a value is read as map['key']"],
    [
      "getResHeader('content-type').contains('json')",
      "did you mean `getResHeader('content-type').exists(value, value.contains('json'))`?",
    ],
  ])('%s', (expression, hint) => {
    const errors = found(rule([expression])).filter(({ severity }) => severity === 'error');
    expect(errors.map((one) => one.hint)).toEqual([hint]);
  });

  test.each([
    ["req.url.path =~ '^/a'", 'a pattern is tested with text.matches(pattern)'],
    ["req.url.path !~ '^/a'", 'a pattern is tested with text.matches(pattern)'],
    ["secrets.get('a') == 'b'", 'secrets.get() does not accept (string)'],
    ["${vars.a} == 'a'", 'it belongs to templates'],
    ["req.method\u200b == 'GET'", 'invisible character U+200B: remove it'],
    ["req.method\u00a0== 'GET'", 'invisible character U+00A0: remove it'],
    ['req.headers[\\"x\\"] == []', 'a quote that begins or ends a string is written without it'],
  ])('%s', (expression, message) => {
    expect(found(rule([expression])).map((one) => one.message)).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['webhook-validation', 'verify-webhook'],
    ['custom_response', 'custom-response'],
    ['Rate_Limit', 'rate-limit'],
    ['Oidc', 'openid-connect'],
  ])('the action %s', (type, meant) => {
    const [one] = found({ on_http_request: [{ actions: [{ type }] }] });
    expect(one).toMatchObject({ code: 'ERR_SERVICE_2201', hint: `did you mean '${meant}'?` });
  });

  test.each([
    ['sonatype_nexus', 'sonatype'],
    ['signalsciences', 'signal_sciences'],
    ['vmware_workspace', 'vmware'],
  ])('the provider %s', (provider, meant) => {
    const action = { type: 'verify-webhook', config: { provider, secret: '${req.host}' } };
    const [one] = found({ on_http_request: [{ actions: [action] }] });
    expect(one).toMatchObject({ code: 'ERR_SERVICE_2222', hint: `did you mean '${meant}'?` });
  });

  test.each([
    ['redirect', { location: 'https://a.test/', to: 'https://a.test/' }, 'write to'],
    ['deny', { body: 'no' }, 'custom-response has a body: use it with a status_code such as 403'],
    ['oauth', { provider: 'google', email_domains: [] }, 'test the email of its result in a rule after it'],
    ['oauth', { provider: 'google', toString: 1 }, undefined],
  ])('a field of another action: %s', (type, config, hint) => {
    const [one] = found({ on_http_request: [{ actions: [{ type, config }] }] });
    expect([one!.code, one!.hint]).toEqual(['ERR_SERVICE_2203', hint]);
  });

  test.each([[{ traffic_policy: { on_http_request: [] } }], [{ trafficPolicy: {} }]])(
    'the file around a policy: %j',
    (file) => {
      const hints = found(file).filter(({ severity }) => severity === 'error');
      for (const { hint } of hints)
        expect(hint).toBe('a policy file has only the part that begins with the phases');
      expect(hints).toHaveLength(Object.keys(file).length);
    },
  );

  test('a map in the place of a credential', () => {
    const action = { type: 'basic-auth', config: { credentials: [{ user: 'password1' }] } };
    const [one] = found({ on_http_request: [{ actions: [action] }] });
    expect(one!.hint).toBe('write one string without spaces: user:password');
  });
});

describe('a strict check', () => {
  const ours = [
    'math.abs(res.status_code) > 1',
    "req.headers[?'x'].hasValue()",
    "cel.bind(a, req.method, a == 'GET')",
    '[1].existsOne(x, x == res.status_code)',
    'req.headers.?x.orValue([]).size() > 1',
  ];
  const public_ = [
    "size(req.method) > 1 && req.url.path.lower().trim().split('/').exists(x, x == 'a')",
    'res.status_code in [1, 2].map(x, x > 1, x * 2)',
    'lists.range(res.status_code).sort(x, y, x > y).size() > 1',
    "base64.encode(b'a') == req.method && timestamp(time.now).getFullYear() > res.status_code",
  ];

  test.each(ours)('%s is ours', (expression) => {
    const codes = found(rule([expression]), { strict: true }).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['policy.addition']));
    expect(found(rule([expression]))).toEqual([]);
  });

  test.each(public_)('%s is not', (expression) => {
    expect(found(rule([expression]), { strict: true })).toEqual([]);
  });

  test('looks into templates, at their place', () => {
    const [one] = found(rule([], log('a ${math.abs(-1)}')), { strict: true });
    expect(one!.source!.text.slice(one!.span!.start, one!.span!.end)).toBe('abs');
  });
});
