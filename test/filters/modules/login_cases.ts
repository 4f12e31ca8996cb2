import type { Case } from './case.ts';

const PROGRAM = { headers: { accept: 'application/json' } };
const stop = (type: string, reason: string, status: number) => ({
  status,
  code: `${type}.${reason}`,
  backend: null,
});

/** Responses of a gate before any provider is asked. */
function beforeProviders(type: string, config: object, page: ReturnType<typeof stop>): Case {
  const at = (url: string) => ({ url: `https://shop.test${url}` });
  return {
    name: 'distinguishes browsers from programs, and keeps its reserved paths',
    config: { ...config, options_passthrough: true },
    exchanges: [
      { expect: page },
      { request: PROGRAM, expect: stop(type, 'login_needed', 401) },
      { request: { method: 'POST' }, expect: stop(type, 'login_needed', 401) },
      { request: { method: 'OPTIONS' }, expect: { status: 200, code: `${type}.options_passed` } },
      { request: at('/auth/callback?state=x&code=y'), expect: stop(type, 'callback_refused', 400) },
      { request: at('/auth/logout'), expect: stop(type, 'logged_out', 302) },
      { request: at('/auth/signed_out'), expect: stop(type, 'logged_out', 200) },
      { request: at('/auth/nothing'), expect: stop(type, 'no_such_path', 404) },
    ],
  };
}

/** Cases of the session gates; later steps of a login are tested in test/auth. */
export const LOGIN_CASES: Readonly<Record<'oauth' | 'oidc', readonly Case[]>> = {
  oauth: [
    beforeProviders(
      'oauth',
      { provider: { github: { client_id: 'a', client_secret: 'b' } } },
      stop('oauth', 'login_started', 302),
    ),
    {
      name: 'has no managed app outside of development',
      config: { provider: { github: {} } },
      exchanges: [{ expect: stop('oauth', 'not_run', 501) }],
    },
  ],
  oidc: [
    beforeProviders(
      'oidc',
      { issuer: 'https://id.test', client_id: 'a', client_secret: 'b' },
      stop('oidc', 'provider_failed', 502),
    ),
  ],
};
