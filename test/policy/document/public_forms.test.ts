import { describe, expect, test } from 'vitest';
import { compile } from '../../../src/cel/program.ts';
import { formatType } from '../../../src/cel/types.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { checkPolicy } from '../../../src/policy/document/check.ts';
import type { PolicySetting } from '../../../src/policy/document/setting.ts';
import { scopeFor } from '../../../src/policy/env/scopes.ts';

/** Forms of configs that public pages use. */

const branding = brandingOf('service');

function found(type: string, config: string, setting: Partial<PolicySetting> = {}): readonly string[] {
  const text = `on_http_request: [{ actions: [{ type: ${type}, config: ${config} }] }]\n`;
  return checkPolicy({ name: 'p.yaml', text }, { branding, ...setting }).diagnostics.map(
    ({ code, pointer }) => `${code} ${pointer.replace('/on_http_request/0/actions/0', '')}`,
  );
}

const jwt = (keys: string): string =>
  `{ issuer: { allow_list: [{ value: a }] }, http: { tokens: [{ type: jwt, method: body, name: t }] }, jws: { allowed_algorithms: [RS256], keys: ${keys} } }`;

const many = (count: number): string =>
  `{ additional_jkus: [${'https://a.test/keys,'.repeat(count).slice(0, -1)}] }`;

describe('accepted', () => {
  test.each([
    ['add-headers', '{ headers: { x-on: true, x-count: 1, x-share: 1.10 } }'],
    ['forward-internal', '{ url: https://app.internal, binding: internal }'],
    ['restrict-ips', "{ allow: [1.1.1.1, '2001:db8::1', 192.0.2.0/24] }"],
    ['jwt-validation', jwt('[{ sources: [{ additional_jkus: [https://a.test/keys] }] }]')],
    [
      'jwt-validation',
      jwt(
        '[{ identification: [{ token_claims: [kid] }, {}], sources: [{ additional_jkus: [https://a.test/keys] }, { additional_jkus: [https://b.test/keys] }] }, { sources: { additional_jkus: [https://c.test/keys] } }]',
      ),
    ],
    [
      'jwt-validation',
      jwt(
        '{ identification: [{ token_claims: [kid] }], sources: { additional_jkus: [https://a.test/keys] } }',
      ),
    ],
    ['oauth', '{ provider: google, idle_session_timeout: 1h }'],
    ['oauth', '{ provider: google, idle_session_duration: 1h }'],
    ['oauth', '{ provider: google, auth_cookie_domain: example.test }'],
    [
      'basic-auth',
      "{ credentials: ['${req.host}', '${req.host}:${req.url.path}', 'a${req.method}:long-password'] }",
    ],
  ])('%s %s', (type, config) => {
    const setting = { internalHosts: ['app.internal'], hosts: ['shop.example.test', '*.example.test'] };
    expect(found(type, config, setting)).toEqual([]);
  });
});

describe('refused, or with a warning', () => {
  test.each([
    ['basic-auth', "{ credentials: ['${req.host}password'] }", ['ERR_SERVICE_2204 /config/credentials/0']],
    ['basic-auth', "{ credentials: ['user${req.host}word'] }", ['ERR_SERVICE_2204 /config/credentials/0']],
    [
      'add-headers',
      '{ headers: { service-skip-browser-warning: yes } }',
      ['ERR_SERVICE_2210 /config/headers/service-skip-browser-warning'],
    ],
    ['verify-webhook', '{ provider: sns, secret: "${req.host}" }', ['policy.no_effect /config/secret']],
    [
      'oauth',
      '{ provider: google, auth_cookie_domain: other.test }',
      ['ERR_SERVICE_2241 /config/auth_cookie_domain'],
    ],
    [
      'oauth',
      '{ provider: google, idle_session_timeout: 1h, idle_session_duration: 1h }',
      ['ERR_SERVICE_2203 /config/idle_session_duration'],
    ],
    ['add-headers', '{ headers: { x-a: .nan } }', ['ERR_SERVICE_2203 /config/headers/x-a']],
    [
      'forward-internal',
      '{ url: https://app.internal, binding: public }',
      ['ERR_SERVICE_2222 /config/binding'],
    ],
    [
      'jwt-validation',
      jwt(`[{ sources: [${many(60)}, ${many(40)}] }, { sources: ${many(1)} }]`),
      ['ERR_SERVICE_2218 /config/jws/keys'],
    ],
    ['jwt-validation', jwt('[]'), ['ERR_SERVICE_2223 /config/jws/keys']],
    ['jwt-validation', jwt('{ sources: [] }'), ['ERR_SERVICE_2223 /config/jws/keys/sources']],
    [
      'jwt-validation',
      jwt(`[{ sources: ${many(1)} }, { sources: [{ additional_jkus: [keys] }] }]`),
      ['ERR_SERVICE_2226 /config/jws/keys/1/sources/0/additional_jkus/0'],
    ],
    [
      'jwt-validation',
      jwt('{ sources: { additional_jkus: [keys, 5] } }'),
      [
        'ERR_SERVICE_2203 /config/jws/keys/sources/additional_jkus/1',
        'ERR_SERVICE_2226 /config/jws/keys/sources/additional_jkus/0',
      ],
    ],
    [
      'ai-gateway',
      '{ api_key_selection: { strategy: [ai.keys] }, providers: [{ id: openai }] }',
      ['policy.not_simulated /type', 'policy.provider_keys /config/api_key_selection'],
    ],
    [
      'ai-gateway',
      '{ providers: [{ id: openai, key: x }] }',
      ['ERR_SERVICE_2203 /config/providers/0/key', 'policy.not_simulated /type'],
    ],
  ])('%s %s', (type, config, expected) => {
    expect(found(type, config, { hosts: ['shop.example.test'] }).toSorted()).toEqual(expected.toSorted());
  });
});

describe('results of actions', () => {
  test.each([
    ['forward_internal.url', 'string'],
    ['ai_gateway.success.model', 'string'],
    ['ai_gateway.models_tried[0].requests_made[0].response.status_code', 'int'],
    ['oauth.expires_at', 'string'],
    ['oidc.expires_at', 'string'],
    ['oauth.user_info_refreshed', 'bool'],
    ['oidc.userinfo_refreshed', 'bool'],
    ['http_request.res.time_ms', 'string'],
    ['http_request.attempts[0].response_time_ms', 'string'],
    ['rate_limit.bucket_key', 'string'],
    ['owasp_crs_request.matched_rules[0].id', 'int'],
    ['restrict_ips.error.code', 'string'],
  ])('%s has the type of the public pages, %s', (path, type) => {
    const { program } = compile(`actions.service.${path}`, scopeFor('on_http_response'));
    expect(program && formatType(program.type)).toBe(type);
  });
});
