import type { Case, Exchanged } from './case.ts';

/** A case whose policy is one list of rules for requests. */
function policy(name: string, rules: readonly object[], ...exchanges: readonly Exchanged[]): Case {
  return { name, config: { value: JSON.stringify({ on_http_request: rules }) }, exchanges };
}

const action = (type: string, config: object = {}) => ({ actions: [{ type, config }] });

/** The traffic policy as a module: one case for each way in which a policy ends. */
export const POLICY_CASES: readonly Case[] = [
  policy(
    'runs its rules, and the upstream sees their edits',
    [
      { expressions: ["req.method == 'PUT'"], ...action('deny', { status_code: 405 }) },
      {
        expressions: ["req.method != 'HEAD'"],
        ...action('add-headers', { headers: { 'x-who': '${conn.client_ip}' } }),
      },
    ],
    { request: { method: 'PUT' }, expect: { status: 405, code: 'traffic_policy.denied', backend: null } },
    { expect: { status: 200, code: 'traffic_policy.applied', upstreamHeaders: { 'x-who': '203.0.113.9' } } },
    { request: { method: 'HEAD' }, expect: { status: 200, code: 'traffic_policy.no_rule' } },
  ),
  policy('answers by itself', [action('custom-response', { status_code: 418, body: 'tea' })], {
    expect: { status: 418, code: 'traffic_policy.answered', backend: null },
  }),
  policy('redirects', [action('redirect', { to: 'https://other.test/' })], {
    expect: {
      status: 302,
      code: 'traffic_policy.redirected',
      backend: null,
      responseHeaders: { location: 'https://other.test/' },
    },
  }),
  policy('closes the connection', [action('close-connection')], {
    expect: { status: 0, code: 'traffic_policy.closed', backend: null },
  }),
  policy('stops where an action is not simulated', [action('owasp-crs-request')], {
    expect: { status: 501, code: 'traffic_policy.not_run', backend: null },
  }),
  policy(
    'stops when an expression fails',
    [{ expressions: ["req.headers['x-absent'][0] == 'a'"], ...action('log', { metadata: { a: 'b' } }) }],
    { expect: { status: 500, code: 'traffic_policy.failed', backend: null } },
  ),
  {
    name: 'may be switched off inside',
    config: { value: JSON.stringify({ enabled: false, on_http_request: [action('deny')] }) },
    exchanges: [{ expect: { status: 200, code: 'traffic_policy.disabled' } }],
  },
];
